"""The match: the running games of one process, from a bot's move to its row and its opponent.

- `stalls`: the server's time, and how long the server itself stood still
- `live`: what is in memory of running games and open streams; a package
- `journal`: has everything committed that happens; a package
- `admission`: the bot behind a hello
- `variants`: what is told of a known program on another machine
- `lobby`: which bots are connected, and whether they are lost one by one or together
- `games`: the running games: how they start and end, and are released after the commit
- `presence`: who is away or silent, and through whose fault; a package
- `actions`: judges what bots send
- `feed`: subscribers of a game or a tournament
- `observers`: listeners that only observe: log, rate and spans of games
- `wire`: the messages of the play stream, read and made
"""
