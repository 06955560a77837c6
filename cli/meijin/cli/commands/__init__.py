"""The commands.

- `servers`, `bots`, `games`, `tournaments`, `matches`: `meijin serve` and `worker`, `bot`, `game`,
  `tournament`, `match`
- `faults`: `meijin faults`
- `ladders`, `ladder_run`, `ladder_verify`: `meijin ladder`
- `certificates`: `meijin certificate`
- `demo`: `meijin demo`
- `learn`: `meijin learn`, a package
"""
