"""What to play next, and when enough has been played.

- `online_posterior`, `matchmaking`: strengths from game to game between two fits, and the next pair
- `stopping`: when an order is sure enough to stop
"""
