"""`meijin match`: two bots against each other.

- `commands`: the command
- `options`: what it is asked for with, and the two sides
- `play`: the command of those who play here, on all cores
- `tune`: better values for the options of a side, on all cores; `tuning_results` are these
- `players`: its own server and bots, or those it waits for
- `result`: what is said of it meanwhile, and how it ended
- `challenges`: unrated ones against a bot that accepts
"""
