"""What the page of a game shows, made of the contract's messages.

- `plies`: its moves, with times, clocks and what the bots thought of them
- `phases`: who placed the first stones and who chose a side, in words
- `evidence`: what supports a fault, in words
- `game_view`: all of it, at one ply
"""
