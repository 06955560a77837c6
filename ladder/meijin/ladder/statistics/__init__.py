"""The mathematics of the ladder: it knows arrays of numbers, and nothing of how games are kept.

- `fit`: strengths from counts of games, and how sure they are where the model holds
- `diagnosis`: whether one strength a player explains the games, and where it does not
- `intervals`: how sure strengths are where games hang together
- `pairing`: what to play next, and when to stop
- `sequential`: tests of two players that stop as soon as they know
- `elo`: classic Elo, and the share of the points that some games were worth

It needs numpy alone. Scipy 1.17 is 143 MB on disk, 27 MB in a worker's memory and 0.15 s or more of
its start, and gains little where it was measured: see `laplacian`, `pair_counts` and `bradley_terry`. Nothing here is the same to the last bit on every machine: OpenBLAS's kernels, its
threads and numpy's vector instructions move ratings and margins of 100 to 10,000 bots by up to
5e-13 Elo, with scipy's solvers as with these. Publishing rounds to 1e-4, which takes that away.
"""
