"""A server as its clients see it, and an arena of one's own.

- `connection`: a server to talk to, and the ways to call it
- `local`: a server and bots as child processes
- `tournaments`: what is played on a server
- `game_tables`: games as tables for statistics
- `errors`: what can't be carried out, in one line
"""
