"""The doctor: an examination of a bot by real games on a server of its own.

- `candidate`, `process_candidate`: what is examined, and one that is a process of this machine
- `link`: a TCP proxy between the bot and the server, which cuts the stream
- `examiner`: the opponent
- `arena`: server, link, bot and examiner together, and games between the two
- `check`: one thing that was looked at, and how it came out
- `evidence`: what finished games say of the bot
- `engine`: an engine, asked by the commands of its protocol
- `plan`: what is played, by what the bot claims
- `examination`: the checks in their order, and what hangs on what
- `hosted`: the examination of a program that the arena is to run
"""
