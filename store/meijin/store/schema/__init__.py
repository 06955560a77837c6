"""The tables: a frozen record of each, whose class has the columns.

- `ids`: what rows are known by, of a type each
- `base`: what makes a class a table, and how values are kept in columns
- `bots`: owners, bots, their versions, and classes
- `access`: tokens, invitations and the audit log
- `ladders`: ladders, their anchors, and their games by days
- `runs`: rating runs with their lines, parameters and diagnoses
- `tournaments`: tournaments, entrants, pairings and challenges
- `games`: games, the journal of those that are running, and the fault ledger
- `openings`: what was played in each position of the first moves, counted
- `programs`: programs of bots, what their admissions have found, and what they use
- `webhooks`: webhooks, how far each has been told, and their deliveries
- `claims`: who owns the database

Every public name of theirs is one of the package's.
"""

from meijin.store.schema.access import *  # noqa: F403
from meijin.store.schema.base import *  # noqa: F403
from meijin.store.schema.bots import *  # noqa: F403
from meijin.store.schema.claims import *  # noqa: F403
from meijin.store.schema.games import *  # noqa: F403
from meijin.store.schema.ids import *  # noqa: F403
from meijin.store.schema.ladders import *  # noqa: F403
from meijin.store.schema.openings import *  # noqa: F403
from meijin.store.schema.programs import *  # noqa: F403
from meijin.store.schema.runs import *  # noqa: F403
from meijin.store.schema.tournaments import *  # noqa: F403
from meijin.store.schema.webhooks import *  # noqa: F403
