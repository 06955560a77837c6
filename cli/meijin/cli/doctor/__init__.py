"""The doctor: a pre-flight of a bot, by real games on a server of its own.

- `check`: what was looked at, and how it came out
- `candidate`: the bot's process, what it says, and what it leaves behind
- `link`: a TCP proxy between the bot and the server, which cuts the stream
- `loop_thread`: an event loop in a thread, for the proxy and the examiner
- `examiner`: the opponent
- `arena`: server, link, bot and examiner together, and games between the two
- `plan`: what is played, by what the bot claims
- `evidence`: what finished games say of the bot
- `checks`: each of the checks
- `examination`: the checks in their order, and what hangs on what
- `admission`: how a server is told of them
- `report`: their results as lines, JSON and JUnit
"""
