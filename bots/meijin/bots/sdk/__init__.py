"""The SDK: a bot's stream, its games, its clock and its searches.

What authors see:

- `bot`, `position`, `answer`: the class to subclass, what it is asked, and what it returns
- `budget`: how much of its time it spends on one move
- `runner`, `settings`: a bot run from a script or the command line
- `errors`: what can go wrong between a bot and the arena

What is behind it:

- `client`, `backoff`: streams to a server, one after the other
- `stream`, `outbox`: one of them, and what waits to be sent
- `games`, `running_game`: the bot's games, over however many streams
- `searcher`, `batch_searcher`, `threads`: how and where its methods are called
- `bot_thread`: a bot that plays in a thread of its own; `poller`: what gRPC says of several loops
- `evaluator`: positions outside of games, searched behind the turns
- `tracebacks`: where in its author's program a bot has failed
- `turn_log`: what it is asked and what it answers, in a file
- `replay`: one turn of a recorded game, given to a bot
- `hardware`, `speed`: what the machine is called, and how fast it is, for people
- `signals`: what asks a bot to leave, on every system
- `road`: the time lost between the bot and the server, and a warning of it
- `events`, `wire`: what the server says, and the messages that say it
"""
