"""Ladders as they are stored.

- `ladders`: found, listed, anchored, and marked when they have changed
- `rated_games`, `repeats`: the games that count, and those that do not
- `sequencer`: takes ended games into a ladder's log, which is what counts
- `opening_keys`: by which the games of one opening are known
- `lineage`: what versions came from
- `runs`: rating runs, published and read
- `bot_ratings`: what bots are rated, for a list of them
- `meetings`: what two versions scored against each other
- `exports`: what a published run was computed from, in pages
- `log`: the finished games in order, which tallies add up and a run is verified from
- `tallies`: the games of each day counted, which runs and histories go on from
- `days`: everybody's rating at the end of each day
- `planning`: what the games of a continuous ladder are planned from
"""
