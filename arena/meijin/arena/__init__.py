"""A server as its clients see it, and an arena of one's own.

- `connection`: a server to talk to, and the ways to call it
- `local`: a server and bots as child processes; `child` is one of these, `startup` how bots are
  waited for, `supervisor` what starts them again
- `game_tables`: games as tables for statistics
- `errors`: what can't be carried out, in one line
"""
