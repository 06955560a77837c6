"""Boards, and what can be said of their stones alone.

- `board`: the stones of a game
- `coordinates`, `diagram`, `moves`, `byte_order`: cells, boards and moves in writing
- `svg`: a board as a picture
- `winning_line`: which stones have won
- `forbidden`: where no stone may be placed
- `symmetry`, `canonical_position`: mirror images of openings and games; what all of a position share
"""
