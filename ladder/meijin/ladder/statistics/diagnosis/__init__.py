"""Whether one strength a player explains the games, and where it does not.

- `residuals`: how far results are from what strengths expect, and how sure that is
- `goodness_of_fit`, `intransitivity`, `drift`: all pairs together, rings of three, change over time
- `diagnosis`: all of it, as a ladder tells it
- `copied_play`: bots that choose the same moves more often than their strength explains
"""
