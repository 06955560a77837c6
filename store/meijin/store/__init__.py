"""Everything that is kept: tables, migrations and queries.

- `schema`: the tables, a package; `migrations`: how they came about, taken by `migration`;
  `revisions`: which there are
- `database`, `writer`: opened and read; written by one thread, in group commits
- `claims`, `fence`: the locks that keep a second server out, and what fences one that lost its lock
- `new_connections`: closed where their preparation fails
- `integrity`: whether a file is a whole database
- `rows`, `prepared`: rows as values, and statements that are executed most often
- `backup`: copies of an SQLite database, taken, checked, pruned and restored
- `journal`: moves, starts and ends of games, committed together
- `disk`: waiting for it
- `move_log`: the moves of running games beside an SQLite database; a package
- `running_games`, `verification`: what is stored of the games that run, and whether it is whole
- `games`, `voids`, `void_evidence`: games, and finished ones that count no more
- `faults`: the fault ledger, what went wrong and whose fault it was
- `tournaments`: made, played, listed and counted; a package
- `match_sums`: colours, stones and times of the games of a match
- `ladders`: what ladders are computed from, and what is published; a package
- `openings`: what was played in each position of the first moves, counted; a package
- `bots`, `bot_results`: bots and their versions, and what their newest games have come to
- `arrivals`: all that is known of the bot behind a hello
- `people`, `challenges`: people, who are kept as bots are, and unrated games between two
- `classes`: classes, their students, and which version of each counts
- `access`: tokens, invitations, owners and the audit log; a package
- `webhooks`: webhooks, and what is delivered to them; a package
- `errors`, `similar`: what is not found, and what may have been meant
"""

from meijin.store.claims import FileClaim
from meijin.store.database import Database, Durability
from meijin.store.errors import StoreError, StoreInUseError
from meijin.store.writer import Writer

__all__ = ["Database", "Durability", "FileClaim", "StoreError", "StoreInUseError", "Writer"]
