"""Calls: authenticated and limited, counted and traced, by the network or from within the process.

- `interceptor`: authentication and permissions before every method, statuses after it
- `limits`: what an address or a bot may open and ask for, at once and as time goes by
- `local`: calls from within the process, for its pages
- `loopback`: the server asks itself, to learn when the threads that serve streams stand still
- `loop_share`: how much of the event loop those take who look at all games
- `stream_ends`: how many streams end in one turn of the event loop
- `call_counts`: calls counted by method, status and reason
- `call_spans`: spans of unary calls and of bots' streams
"""
