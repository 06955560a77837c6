"""Games to be kept, in memory and in files.

- `record`, `analysis`: a game, its moves as a string, and what the bots thought of them
- `chances`, `turning_point`: what their scores say of who wins, and which move decided it
- `recorded_turn`: who was asked for what, and what both clocks showed at every ply
- `decisions`: those of an opening, in words
- `referee`: whether a record can be true
- `sgf`, `sgf_tree`, `psq`, `json`, `rif`: the formats of files
- `file`: files of games in whatever format
"""
