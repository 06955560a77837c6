"""Tracing: spans of games, commits, calls, streams and ladder runs, for OpenTelemetry.

Each is recorded where its subject is known, once it has ended, so that nothing has to be kept
open; a game of an earlier server has its whole span too. No span is one move's.

- `spans`: what a span is, whose trace it belongs to, and the tracer that drops them all
- `otlp`: the tracer that sends them to a collector; it needs the extra ``meijin[tracing]``
- `start`: the one or the other
"""
