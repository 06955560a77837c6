"""Everything that is kept: tables, migrations and queries.

- `schema`: the tables and their records, a package; `migrations`: how they came about;
  `revisions`: which there are, and the steps between them
- `database`, `writer`: opened and read; written by one thread, in group commits
- `claims`, `fence`: the locks that keep a second server out, and what fences one that lost its lock
- `rows`, `prepared`: rows as records, and statements that are executed most often
- `backup`: copies of an SQLite database, taken, checked, pruned and restored
- `journal`: moves, starts and ends of games, committed together
- `move_log`: the moves of running games beside an SQLite database; a package
- `running_games`, `verification`: what is stored of the games that run, and whether it is whole
- `games`, `voids`: games, and finished ones that count no more
- `faults`: the fault ledger, what went wrong and whose fault it was
- `tournaments`: tournaments and challenges made, played, listed and counted; a package
- `ladders`: what ladders are computed from, and what is published; a package
- `bots`: bots and their versions
- `programs`: programs of bots, their admissions, and what they use; a package
- `access`: who may do what, and what was changed; a package
- `webhooks`: webhooks, and what is delivered to them; a package
- `errors`: what is not found, and what may have been meant
"""

from meijin.store.claims import FileClaim
from meijin.store.database import Database, Durability
from meijin.store.errors import StoreError, StoreInUseError
from meijin.store.writer import Writer

__all__ = ["Database", "Durability", "FileClaim", "StoreError", "StoreInUseError", "Writer"]
