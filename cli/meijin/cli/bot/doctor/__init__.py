"""`meijin bot doctor`: a pre-flight of a bot, by real games on a server of its own.

- `command`: the command
- `candidate`: the bot's process, what it says, and what it leaves behind
- `link`: a TCP proxy between the bot and the server, which cuts the stream
- `examiner`: the opponent
- `arena`: server, link, bot and examiner together, and games between the two
- `evidence`: what finished games say of the bot
- `engine`: an engine, asked by the commands of its protocol
- `plan`: what is played, by what the bot claims
- `examination`: the checks in their order, and what hangs on what
- `report`: how they came out, as lines, JSON and JUnit
"""
