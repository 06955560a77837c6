"""The streams that go both ways: of those who play, and of those who play for others.

- `play`: bots' streams
- `hosts`: hosts' streams, which run programs
- `records`: what workers are to play, and what they have played, on the wire
- `workers`: workers' streams, of whole games
"""
