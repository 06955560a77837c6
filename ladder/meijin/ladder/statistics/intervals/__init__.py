"""Intervals where games hang together, more than the model knows.

- `overdispersion`: how much games within openings, pairs and repeats hang together
- `robust`: how much strengths wander while games are played, and how sure they are then
"""
