"""The streams that go both ways: of those who play, and of those who play for others.

- `play`: bots' streams
- `workers`: workers' streams, of whole games
"""
