"""Ratings of bots, and the jobs that keep them fresh.

- `statistics`: the mathematics, of arrays alone; a package
- `tally`, `tally_cache`: a ladder's finished games added up, and kept between two runs
- `rating_table`: ratings with intervals, from a snapshot of a tally
- `centre`: who weighs in the mean that ratings are relative to
- `diagnose`: what speaks against a fit, as it is kept with a run
- `refresh`, `history`: a run that is published, and everybody's rating by days
- `verify`: a published run, computed again
- `posterior`, `compare`, `pairing`: what a run and the games since say of any two bots, and who is
  to meet whom
- `opening_counter`, `opening_moves`: finished games counted by the positions of their first moves
- `refresh_queue`, `jobs`, `worker`: jobs on their way, what they do, and the process that does it
- `outage_log`: one line when Redis or the database is gone, and one when it is back
"""

import os

# Before numpy is imported: on two busy cores, a step for 1,000 bots takes 18 ms with
# one thread and 250 ms with two, which wait for each other by spinning.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
