"""The match: the running games of one process, from a bot's move to its row and its opponent.

- `arbiter`: the judge of one game, without input or output; a package
- `live`: what is in memory of running games and open streams; a package
- `journal`: has everything committed that happens; a package
- `admission`: the bot behind a hello
- `lobby`: which bots are connected
- `silence`: whether connections have fallen silent together without being closed
- `games`: the running games: how they start and end, and are released after the commit
- `incidents`: what goes wrong without ending a game, for the ledger
- `lost_moves`: voids games of which this server knows less than their players
- `actions`: judges what bots send
- `feed`: subscribers of a game or a tournament
- `observers`: listeners that only observe; a package
- `watchdog`: flag fall, lag and slow consumers, looked at now and then
- `wire`: the messages of the play stream, read and made
"""
