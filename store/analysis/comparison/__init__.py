"""Which prompt version routes better: cases, trials, and what comparing them comes to.

Pure: an `Experiment` in, a `Comparison` out. `cases` and `trials` are what is compared, `result` is
what comes of it, `compare` makes it, `statistics` and `paired` are the arithmetic.
"""
