"""The match: the running games of one process, from a bot's move to its row and its opponent.

- `stalls`: the server's time, and how long the server itself stood still
- `rolling`: what has come in the last minutes
- `allowance`: what lag, a margin and absences may take off a side's time at most
- `presence`: who is away, and what that costs
- `timing`: the time of a move whose flag is about to fall, and the evidence of it
- `flag`: the flag of the side to move, which waits for a ping's answer before it falls
- `store_watch`: since when the store owes an answer, and whether it is away
- `arbiter`: the judge of one game: moves, clocks, forfeits
- `segments`: which entries of the journal are kept, and in which portions old ones go
- `live_game`: a game that is being played, and its players' outboxes
- `supplier`: how often what a bot depends on may fail
- `commands`: what a bot says, as plain values
- `admission`: the bot behind a hello
- `lag`: the round trip of a stream, measured by pings
- `evaluations`: positions outside of games that a bot is asked for on its stream
- `session`: a bot's open stream and its outbox
- `deadlines`: the running games in buckets, by when anything can be due in them
- `commit_spans`: commits as spans, the slow ones and one a second
- `compaction`: old games are written anew, so that the journal stays bounded
- `group_commit`, `store_commit`, `log_commit`, `log_sync`: what is committed together, to the
  database or to the move log
- `journal`: has everything committed that happens
- `listeners`: who hears what happens, in a stated order
- `departures`: whether bots lose their streams one by one, or together
- `lobby`: which bots are connected
- `silence`: whether connections have fallen silent together without being closed
- `games`: the running games: how they start and end, and are released after the commit
- `incidents`: what goes wrong without ending a game, for the ledger
- `actions`: judges what bots send
- `feed`: subscribers of a game or a tournament
- `game_rate`: how many games have ended in the last hours
- `game_log`: a line in the log for each game
- `game_spans`: a span for each game
- `watchdog`: flag fall, lag and slow consumers, looked at now and then
- `wire`: the messages of the play stream, read and made
"""
