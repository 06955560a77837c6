"""Ladders as they are stored.

- `ladders`: found, listed, anchored, and marked when they have changed
- `rated_games`, `repeats`: the games that count, and those that do not
- `lineage`: what versions came from, and when they last played
- `runs`: rating runs, published and read
- `days`: everybody's rating at the end of each day
- `log`: the games that a run is verified from
- `planning`: what the games of a continuous ladder are planned from
"""
