"""The contract, answered: what is called, what it may cost, and what is told.

- `services`: a servicer for each service
- `streams`: those of players and workers, which go both ways
- `answers`: records of the store and of games as the messages that servicers answer with
- `calls`: what stands before every method: who calls, within which limits, and how it ends
"""
