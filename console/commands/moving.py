"""Sessions out of a store, into it, and gone from it."""
