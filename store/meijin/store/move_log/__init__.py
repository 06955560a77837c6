"""The move log: a write-ahead log of the moves of running games, beside an SQLite database.

A commit to the database takes the interpreter 0.3 ms, and waits for whoever else writes there; an
entry here is one write to the end of a file. A game's start is the database's, and so is its end,
with which all of its moves are stored.

- `entry`: what is committed together, as bytes, chained by hashes
- `segment`: the files that entries are in, and what stands at the head of each
- `head`: the newest acknowledged entry, noted apart from the entries
- `mark`: what the database knows of its log: whose it is, and how far it has come
- `log`: appended to by the server
- `reader`: read and proven, while a server appends or after it
- `problem`: what can be wrong with a log, in words
- `fold`: the moves of a log in a copy of its database, which then needs none
"""
