"""Tuning: better values for the numbers that a bot or an engine is given, found by games.

- `parameter`: what is tuned, as people write it
- `spsa`: simultaneous perturbation, which walks to better values
- `tuning_log`: results in a file, by which a tuning goes on
- `pair_pool`: pairs of games played on all cores, without a server
- `tuner`: all of these together
"""
