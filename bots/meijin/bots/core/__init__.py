"""The compiled search core: importing its modules needs numba, the extra ``meijin[bots]``.

- `engine`: the core as Python sees it
- `balance`: whether an opening favours a side
- `state`, `lookup`, `geometry`, `movegen`: positions, tables of a variant, lines and moves
- `shapes`, `forced`, `vcf`, `vct`, `proof`: threats, and wins by them
- `fouls`: what is forbidden to black in renju
- `network`, `windows`, `evaluate`: what a position is worth
- `search`, `selectivity`, `transposition`: alpha-beta
- `uct`, `pure_tree`, `playout`: Monte-Carlo tree search by random playouts
- `puct`, `guided_tree`, `tree_result`: and with the network
- `bits`: bits of masks
- `jit`, `cache`: compilation, and where its results are kept
"""
