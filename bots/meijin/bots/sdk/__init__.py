"""The SDK: a bot's stream, its games, its clock and its searches.

What authors see:

- `bot`, `position`, `answer`: the class to subclass, what it is asked, and what it returns
- `runner`: a bot run from a script or the command line, or in a thread of its own
- `errors`: what can go wrong between a bot and the arena, and where in its program a bot fails

What is behind it:

- `client`, `stream`: streams to a server, one after the other, and one of them
- `games`, `running_game`: the bot's games, over however many streams
- `searcher`: how and where its methods are called
- `evaluator`: positions outside of games, searched behind the turns
- `turn_log`: what it is asked and what it answers, in a file
- `replay`: one turn of a recorded game, given to a bot
- `hardware`: what the machine is called, and how fast it is, for people
- `turn`, `wire`: what the server says of a turn, and the messages of the bot
"""
