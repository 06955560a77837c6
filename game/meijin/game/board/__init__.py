"""Boards, and what can be said of their stones alone.

- `board`: the stones of a game
- `coordinates`, `moves`: cells, boards and moves in writing
- `svg`: a board as a picture
- `winning_line`: which stones have won
- `forbidden`: where no stone may be placed
- `symmetry`: mirror images of openings and games, and what all images of a position share
"""
