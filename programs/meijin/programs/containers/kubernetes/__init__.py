"""The sandbox of Kubernetes: each program is a Pod on its host's node, or a Job where it has an end.

The host is a Pod itself, and its folder is a claim that programs see parts of: their own files, and
the socket of their door. The door stays in the host's Pod, for the containers of one Pod share a
network: whatever a door in the program's own Pod reached, the program would reach as well. So the
program's Pod is one that no traffic leaves or enters.

- `api`: the API server, as a Pod talks to it
- `pods`: what the API says of the host's Pod, and of a program's, or its Job
- `manifests`: what is created
- `check`, `probe`: what a Pod is limited in, found out by one that tries
- `sandbox`, `program`: programs as Pods
- `job_program`: a program as a Job
"""
