"""A worker: a process that plays whole games beside the engines, over their pipes.

- `plan`: what it is to play with, as its parent writes it down
- `sides`: what is found out of its bots and engines, and how players are made of them
- `bot_host`, `host_messages`: processes of bots that are written with the SDK, forked from one that
  has loaded them, and what is said to them
- `players`: a bot or an engine as the game loop sees it; `bot_player` and `engine_player` are these
- `game_loop`: one game from its opening to its record, judged by the arbiter
- `slots`: processes that play one game at a time each; `cores` are what they are dealt to
- `worker`: the stream to the server, and the slots
- `pool`: slots that play what their parent sends, with options of the moment
"""
