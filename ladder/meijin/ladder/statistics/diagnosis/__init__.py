"""Whether one strength a player explains the games, and where it does not.

- `residuals`: how far results are from what strengths expect, by pairs
- `over_time`: trends and steps of each player's strength
- `random_walks`: how far strengths may be from what rates them by now
- `diagnosis`: all pairs together, circles of three, and change over time, as a ladder tells it
- `calibration`: what games came to that were foretold
- `copied_play`: bots that choose the same moves more often than their strength explains
"""
