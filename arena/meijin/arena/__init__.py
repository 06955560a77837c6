"""A server as its clients see it, and an arena of one's own.

- `connection`: a server to talk to, and the ways to call it
- `local`: a server and bots as child processes
- `server_parts`: what a server needs, looked for before one is started
- `errors`: what can't be carried out, in one line
"""
