"""Metrics for Prometheus, served on a port of their own.

What happens is counted where it happens, once a call, a commit or a game; what stands is read
when it is asked for.

- `exporter`: the port, and the threads that answer on it
- `game_counts`: moves and games, counted as they are committed
- `standing`: what is connected, running and waiting, read at a scrape
- `ladders`: how far the ladders are behind, looked at now and then
- `certificates`: the time that certificates have left
- `registry`: all of them, put together
"""
