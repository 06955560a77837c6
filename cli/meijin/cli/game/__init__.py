"""`meijin game`: games looked at, exported, converted, verified, replayed and made void.

- `commands`: those that servers are asked for
- `view`: a game on the screen
- `stepping`: its positions by keys, on the whole of a terminal
- `source`: where they are read from
- `selection`: which of them
- `files`: games as files, exported and converted
- `verify`: games refereed again
- `replay`, `replaying`: a turn of a game, given to a bot
- `openings`: books of openings, and what was played
- `faults`: what went wrong, and whose fault it was
"""
