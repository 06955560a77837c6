"""The fit: strengths, and how sure they are where the model holds.

- `pair_counts`: games, counted by who met whom and on which opening
- `likelihood`, `bradley_terry`: strengths fitted to counts
- `lineage`: which versions came from which
- `empirical_bayes`: the fit with the widths of those priors estimated from the games, and what the
  fit owes to its prior
- `covariance`, `laplacian`: how sure they are, in small pools and in large ones
"""
