"""The commands.

- `game_export`, `game_files`: `meijin game export`; `convert` and `verify`
- `servers`, `bots`, `games`, `tournaments`, `matches`: `meijin serve` and `worker`, `bot`, `game`,
  `tournament`, `match`
- `engines`: `meijin bot wrap` and `engine`
- `tokens`, `owners`, `admin`: `meijin token`; `meijin owner`; `meijin admin`
- `openings`: `meijin openings`
- `faults`: `meijin faults`
- `status`, `backups`: `meijin status`; `meijin backup` and `restore`
- `ladders`, `ladder_run`, `ladder_compare`, `ladder_export`, `ladder_verify`: `meijin ladder`
- `certificates`: `meijin certificate`
- `demo`: `meijin demo`
- `learn`: `meijin learn`, a package
"""
