"""A server: run, looked at, backed up and verified.

- `commands`: `meijin serve` and `meijin worker`
- `web`, `site`: its pages for browsers, as a process apart or with it
- `status`, `healthcheck`: how it is doing, and whether it serves
- `certificates`: certificates for trials
- `database`: its database copied, put back and verified, by commands that open it themselves
"""
