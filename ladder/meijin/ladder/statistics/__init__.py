"""The mathematics of the ladder: it knows arrays of numbers, and nothing of how games are kept.

- `pair_counts`: games, counted by who met whom
- `bradley_terry`, `likelihood`: strengths fitted to counts
- `covariance`, `laplacian`, `lanczos`: how sure they are, in small pools and in large ones
- `online_posterior`, `matchmaking`: game by game between two fits, and what to play next
- `stopping`: when an order is sure enough to stop
- `elo`: classic Elo
- `sprt`: the sequential test of a match

It needs numpy alone. Scipy 1.17 is 143 MB on disk, 27 MB in a worker's memory and 0.15 s or more of
its start, and gains little where it was measured: see `lanczos`, `laplacian`, `pair_counts` and
`bradley_terry`. Nothing here is the same to the last bit on every machine: OpenBLAS's kernels, its
threads and numpy's vector instructions move ratings and margins of 100 to 10,000 bots by up to
5e-13 Elo, with scipy's solvers as with these. Publishing rounds to 1e-4, which takes that away.
"""
