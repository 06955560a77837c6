"""The sandbox: programs of others are started in it, apart from each other and from the machine.

- `abilities`: what is limited on this machine, and what a host can't do without
- `running`: how a program is started, what it uses, and how it has ended
- `bubblewrap`, `bubblewrap_check`, `bubblewrap_command`, `bubblewrap_program`: the back end for
  programs of others
- `process`: the one for one's own programs, which limits nothing
- `cgroups`, `cgroups_v1`, `cgroups_v2`, `seat_groups`: limits of all processes of a program
- `seccomp`, `bpf`: the system calls that are refused
- `output`: what a program has written, and when it is too much
- `janitor`, `group_removal`: nothing is left of a host that was killed
"""
