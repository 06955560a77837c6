"""Intervals where games hang together, more than the model knows.

- `overdispersion`: how much games within openings, pairs and repeats hang together
- `robust`: how sure strengths are then
- `performance`: what some games alone say: recent form, and bounds of perfect scorers
"""
