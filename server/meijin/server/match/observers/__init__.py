"""Listeners that only observe.

- `game_log`: a line in the log for each game
- `game_rate`: how many games have ended in the last hours
- `game_spans`: a span for each game
"""
