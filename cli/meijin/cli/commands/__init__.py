"""The commands.

- `game_export`, `game_files`, `game_replay`: `meijin game export`; `convert` and `verify`;
  `replay`
- `server_database`: the database of a server, for those that open it themselves
- `servers`, `bots`, `games`, `tournaments`, `matches`: `meijin serve` and `worker`, `bot`, `game`,
  `tournament`, `match`
- `engines`, `bench`: `meijin bot wrap` and `engine`; `bench`
- `doctor`: `meijin bot doctor`
- `login`, `tokens`, `admin`: `meijin login` and `logout`; `meijin token`; `meijin admin`
- `challenges`: `meijin challenge`
- `webhooks`: `meijin webhook`
- `analyse`: `meijin analyse`
- `openings`, `explored_openings`, `recounted_openings`: `meijin openings`; `explore`; `recount`
- `faults`: `meijin faults`
- `status`, `backups`, `verify`: `meijin status`; `meijin backup` and `restore`; `meijin verify`
- `ladders`, `ladder_run`, `ladder_compare`, `ladder_export`, `ladder_verify`: `meijin ladder`
- `certificates`: `meijin certificate`
- `demo`, `web`: `meijin demo`; `meijin web`
- `learn`: `meijin learn`, a package
- `classes`: `meijin class`, a package
"""
