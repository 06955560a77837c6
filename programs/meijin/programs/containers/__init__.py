"""Sandboxes of container engines: programs run in containers, and images as they are.

- `engine`, `engine_info`, `engine_check`: the command line of Docker or Podman, and what it can limit
- `container_sandbox`, `container_command`, `container_program`: programs in their containers
- `seccomp_profile`: the system calls that they may make
- `container_group`: what a container uses
- `not_started`: a program that could not be started
- `kubernetes`: programs as Pods of a cluster
- `host_label`, `janitor`: nothing is left of a host that was killed
"""
