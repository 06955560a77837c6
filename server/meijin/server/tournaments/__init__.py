"""Tournaments: how they are made, played, stopped, and taken up again.

- `formats`: who meets whom, and when it is decided; a module for each format
- `creation`: what a tournament is asked to be is validated, planned and stored
- `owner_limits`: how much the tournaments of one owner may take
- `run`: a tournament that is being played
- `pending`: the games that wait to be started
- `pauses`: bots that forfeit game after game get no new ones
- `leases`, `workers`: games that workers play, and who of them has which; they hand them in
- `seats`, `program_watch`: programs that are called for games, the hosts that run them, and which
  there are
- `scheduler`: starts planned games as soon as their bots are free
- `planner`: has formats plan games where there is capacity for them
- `control`: takes tournaments up and voids games, in the store and in memory alike
- `recovery`: what an earlier server left
- `refresh_jobs`: tells the ladders' worker of games that have ended
"""
