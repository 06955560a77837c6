"""New connections: taken at a rate that leaves running games alone, by address and in all.

gRPC accepts whatever comes, a thousand in 100 ms, and its threads read no bot's answer meanwhile.
So the system is told which connections not to open, before gRPC knows of them. Linux alone can do
that; elsewhere a standstill is credited to all, and nothing more.

- `limits`: which addresses have to wait
- `syn_filter`: has the system drop their requests to connect
- `sockets`: this process's own: those that listen, and connections
- `guard`: looks now and then, has addresses wait, and hangs up on their idle connections
"""
