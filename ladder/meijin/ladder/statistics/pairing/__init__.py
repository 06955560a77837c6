"""What to play next, and when enough has been played.

- `online_posterior`: strengths from game to game between two fits
- `matchmaking`: the next pair, and when an order is sure enough to stop
"""
