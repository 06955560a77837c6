"""The opening counts: what was played in each position of the first moves, and how it ended.

- `games_to_count`: the games that are to be counted, and the ratings that they were played at
- `counting`: counted games added and taken away, with the cursor in the same transaction
- `rechecks`: games that a void has changed, to be looked at again
- `explored`: a position's moves, read
"""
