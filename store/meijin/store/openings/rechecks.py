"""Games that a void has changed: the opening counts look at them again."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from meijin.store.rows import columns_of
from meijin.store.schema import GameId, OpeningRecheck


class Recheck(NamedTuple):
    """A game that is to be looked at again."""

    id: int
    game_id: GameId


def add_rechecks(connection: Connection, game_ids: Iterable[GameId]) -> None:
    """Have some games looked at again; there is at least one."""
    rows = [{"game_id": game_id} for game_id in sorted(game_ids)]
    connection.execute(insert(OpeningRecheck), rows)


def next_rechecks(connection: Connection, *, limit: int) -> Sequence[Recheck]:
    """The first games that are to be looked at again."""
    query = select(*columns_of(Recheck, OpeningRecheck)).order_by(OpeningRecheck.id).limit(limit)
    return [Recheck._make(row) for row in connection.execute(query)]


def take_recheck(connection: Connection, recheck: Recheck) -> bool:
    """Look at a game, unless somebody else did; tell whether it waited."""
    mine = delete(OpeningRecheck).where(OpeningRecheck.id == recheck.id)
    return bool(connection.execute(mine).rowcount)
