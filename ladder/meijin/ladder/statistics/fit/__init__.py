"""The fit: strengths, and how sure they are where the model holds.

- `pair_counts`: games, counted by who met whom, and by what two played on one opening
- `likelihood`, `bradley_terry`: strengths fitted to counts
- `lineage`: which versions came from which
- `shared_openings`: what games on one opening have in common
- `empirical_bayes`: the fit with the widths of lineage and openings estimated from the games
- `covariance`, `laplacian`: how sure they are, in small pools and in large ones
"""
