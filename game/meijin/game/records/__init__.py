"""Games to be kept, in memory and in files.

- `record`, `analysis`: a game, and what the bots thought of its moves
- `recorded_turn`: who was asked for what, and with which clocks
- `recorded_clocks`: what both clocks showed at every ply
- `referee`: whether a record can be true
- `sgf`, `sgf_tree`, `psq`, `position_string`, `json`, `rif`: the formats of files
- `file`: files of games in whatever format
- `imported`: outcomes of games that tell a result alone
"""
