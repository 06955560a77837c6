"""Ratings of bots, and the jobs that keep them fresh.

- `statistics`: the mathematics, of arrays alone; a package
- `tally`: a ladder's finished games added up, and kept between two runs
- `pool`: the fit of a tally, the centre of its scale, and intervals
- `rating_table`: the run of a snapshot: its lines, parameters and diagnosis
- `refresh`, `history`: a run that is published, and everybody's rating by days
- `verification`: all that is published, computed again; a package
- `algorithms`: those of earlier releases, by which their runs are verified; a package
- `posterior`, `pairing`: what a run and the games since say of any two bots, and who is to meet whom
- `final_order`: how sure the order is of a ladder that was settled, in words
- `opening_counter`: finished games counted by the positions of their first moves
- `job_queue`, `admission_queue`: jobs on their way to workers, those that examine programs too
- `refresh_queue`, `jobs`, `worker`: refresh jobs on their way, what they do, and the process that does it
"""

import os

# Before numpy is imported: on two busy cores, a step for 1,000 bots takes 18 ms with
# one thread and 250 ms with two, which wait for each other by spinning.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
