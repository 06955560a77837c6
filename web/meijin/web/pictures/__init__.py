"""Pictures of games as PNG, for places that show no SVG: messengers, feeds, slides.

- `lettering`: text of others, drawn safely
- `drawing`: SVG of our own as pixels
- `game_image`: a game at a ply, as a square or as a card with its players
"""
