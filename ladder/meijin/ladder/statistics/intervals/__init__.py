"""Intervals where games hang together, more than the model knows.

- `overdispersion`: how much games within openings, pairs and repeats hang together
- `random_walk`: how much strengths wander while games are played
- `robust`: how sure strengths are then
"""
