"""The built-in bots, and how bots are found.

- `random_bot`, `alphabeta`, `mcts`, `reference_bot`: the bots; `compiled` is the base of those two
  that search with the compiled core
- `catalogue`: finds a bot by its name or in a file
- `template`: a new bot's file
- `bench`: the reference search, by which machines are compared
"""
