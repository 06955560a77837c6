"""Hosting: programs are examined, seated on a host, and play as bots.

- `host`: the daemon that seats programs for a server
- `shelf`: the programs that a host has fetched and prepared; `runtime` is what they read besides
- `seating`: one program in its sandbox, with its door, from the start to the end
- `doors`: processes of doors, one of which is always ready
- `door`: the process beside each program through which it plays, and which keeps its time
- `cores`: who thinks on which core, and who waits for one
- `admission`: the queued examination of what was uploaded
"""
