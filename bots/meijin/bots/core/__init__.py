"""The compiled search core: importing its modules needs numba, the extra ``meijin[bots]``.

- `engine`, `limits`: the core as Python sees it, and what a search is given and returns
- `state`, `lookup`, `movegen`: positions, tables of a variant, moves
- `shapes`, `threats`: what a stone makes in its lines, and wins by fours (VCF)
- `fouls`: what is forbidden to black in renju
- `network`: what a position is worth
- `search`, `transposition`: alpha-beta
- `uct`, `puct`: Monte-Carlo tree search, by random playouts and with the network
- `jit`, `cache`: compilation, and where its results are kept
"""
