"""The mathematics of the ladder: it knows arrays of numbers, and nothing of how games are kept.

- `pair_counts`: games, counted by who met whom
- `bradley_terry`, `likelihood`: strengths fitted to counts
- `lineage`, `opening_effects`: which versions and which openings have priors of their own
- `empirical_bayes`: the fit with the widths of those priors estimated from the games
- `prior_sensitivity`: what they owe to the prior
- `covariance`, `laplacian`, `lanczos`: how sure they are, in small pools and in large ones
- `clusters`, `overdispersion`, `robust`: how much games hang together, and how sure they are then;
  `random_walk`: how much strengths wander meanwhile
- `online_posterior`, `matchmaking`: game by game between two fits, and what to play next
- `stopping`: when an order is sure enough to stop
- `residuals`, `goodness_of_fit`, `intransitivity`, `drift`, `diagnosis`: whether one strength a
  player explains the games, and where it does not; `significance` is how sure that is
- `elo`: classic Elo
- `copied_play`: bots that choose the same moves more often than their strength explains
- `sprt`: the sequential test of a match; `stopped`: what is estimated once it has stopped, by
  `likelihood_ratios` and `first_passage`; `match_estimate`: of a match without a test
- `score_interval`: the share of the points that some games were worth

It needs numpy alone. Scipy 1.17 is 143 MB on disk, 27 MB in a worker's memory and 0.15 s or more of
its start, and gains little where it was measured: see `lanczos`, `laplacian`, `pair_counts` and
`bradley_terry`. Nothing here is the same to the last bit on every machine: OpenBLAS's kernels, its
threads and numpy's vector instructions move ratings and margins of 100 to 10,000 bots by up to
5e-13 Elo, with scipy's solvers as with these. Publishing rounds to 1e-4, which takes that away.
"""
