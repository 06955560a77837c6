"""Ladders as they are stored.

- `ladders`: found, listed, anchored, and marked when they have changed
- `rated_games`, `repeats`: the games that count, and those that do not
- `opening_keys`: by which the games of one opening are known
- `runs`: rating runs, published and read
- `meetings`: what two versions scored against each other
- `exports`: what a published run was computed from, in pages
- `days`: everybody's rating at the end of each day
- `log`: the games that a run is verified from
- `planning`: what the games of a continuous ladder are planned from
"""
