"""The verbs behind every door, command line and screen alike: where runtime and store meet.

`flows` finds and adjusts what is to be run, `running` runs one session, `batch` a file of requests.
`waiting` says what a session waits for, `saying` takes what people say to it, `resuming` goes on
with it. `rerun_orders` checks what is to be run again, `estimates` says what that takes,
`rerunning` does it, `pins` makes a test of it; `background` does both in a thread of the console.
`looking` and `listing` read what was recorded, `forms` has the JSON of it; `moving` and `keeping`
take sessions out, in, and away; `samples` and `stores` make a store ready, `doctor` checks it.
`comparison_plans` says what comparing prompt versions takes, `comparing_versions` runs it from what
is on record, `datasets` reads the cases, `routed` the sides, and `comparison_forms` has the JSON.
"""
