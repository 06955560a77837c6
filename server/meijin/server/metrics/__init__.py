"""Metrics for Prometheus, served on a port of their own.

What happens is counted where it happens, once a call, a commit or a game; what stands is read
when it is asked for.

- `exporter`: the port, and the threads that answer on it
- `ladders`: how far the ladders are behind, looked at now and then
- `registry`: all of them, put together: games and moves, counted as they are committed, and what is
  connected, running and waiting at a scrape
"""
