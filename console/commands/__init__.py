"""The verbs behind every door, command line and screen alike: where runtime and store meet.

`flows` finds and adjusts what is to be run, `running` runs one session, `batch` a file of requests;
`looking` and `listing` read what was recorded, `forms` has the JSON of it; `moving` and `keeping`
take sessions out, in, and away; `samples` and `stores` make a store ready, `doctor` checks it.
"""
