"""Tuning: better values for the numbers that a bot or an engine is given, found by games.

- `parameter`: what is tuned, as people write it
- `trial`: two sets of values that are to meet, and schedules of these
- `spsa`: simultaneous perturbation, which walks to better values
- `grid`: values evenly over the ranges, and `fit` the curve through their results
- `tuning_log`: results in a file, by which a tuning goes on
- `pair_pool`: pairs of games played on all cores, without a server
- `tuner`: plays what has no result in the log
"""
