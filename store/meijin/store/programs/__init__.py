"""Programs of bots, of which rows alone are kept here.

- `programs`: added, found, listed, and changed by those whose they are
- `admissions`: taken by workers to be examined, admitted and refused
- `players`: those that may be called for a game
- `usage`: what their runs have used, and the lines that they have said
"""
