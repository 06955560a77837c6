"""What is in memory of running games and open streams.

- `commands`: what a bot says, as plain values
- `segments`: which entries of the journal are kept, and in which portions old ones go
- `store_watch`: since when the store owes an answer, and whether it is away
- `witnesses`: what both players know of a game of an earlier server, compared with its moves here
- `live_game`: a game that is being played, and its players' outboxes
- `evaluations`: positions outside of games that a bot is asked for on its stream
- `lag`: the round trip of a stream, measured by pings
- `session`: a bot's open stream and its outbox
- `deadlines`: the running games in buckets, by when anything can be due in them
- `listeners`: who hears what happens, in a stated order
"""
