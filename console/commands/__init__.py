"""The verbs behind every door, command line and screen alike: where runtime and store meet."""
