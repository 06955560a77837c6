"""Openings: the first moves of a game.

- `opening`, `balanced`: those that a server deals
- `book`, `generated`: more of them than a test can play
- `file`: openings from files
"""
