"""The door: a process beside a program, through which it plays as its bot.

The program reaches nothing but this door's Unix socket, which is its identity: no token is inside of
the sandbox. The door holds the ticket, speaks with the server, and keeps the program's time. It parses
what a hostile program sends, so it is a process of its own, with the program's user and on its
account of processor time.

- `lines`: what a host and its doors say to each other, a JSON object in a line
- `relay`: what is passed on when, without sockets and clocks
"""
