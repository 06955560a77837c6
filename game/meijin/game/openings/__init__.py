"""Openings: the first moves of a game.

- `opening`: read, written, and which may be dealt
- `balanced`, `book`: those that a server deals, from the lists in ``lists``; `deck`, in which order
- `drawn`: random ones, from which the lists are vetted
- `file`: openings from files
"""
