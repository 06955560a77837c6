"""What to play next, and when enough has been played.

- `online_posterior`: strengths from game to game between two fits
- `stopping_rule`: when an order is sure enough to stop
- `budget`: what a number of games can settle
- `matchmaking`: the next pair
"""
