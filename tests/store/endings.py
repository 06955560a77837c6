"""Games of a scene, ended."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select, update

from meijin.game import Ending, Party, Result
from meijin.store import Database
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import EntryId, Game, GameState, Tournament

if TYPE_CHECKING:
    from tests.store.conftest import Scene


def play(
    database: Database, scene: Scene, results: dict[int, Result], *, swapped: Collection[int] = ()
) -> None:
    """End the games of the pairings with these numbers, in this order; some with a swap."""
    entry = JournalEntry(EntryId(1))
    entry.starts = [scene.start(number - 1, number) for number in results]
    database.write(lambda to: commit_entry(to, entry))
    for sequence, (number, result) in enumerate(results.items(), start=1):
        state = GameState.VOID if result is Result.NONE else GameState.FINISHED
        ending = Ending.VOID if result is Result.NONE else Ending.ADJUDICATION
        values = {
            "state": state,
            "result": result,
            "ending": ending,
            "at_fault": Party.NOBODY,
            "end_sequence": sequence,
            "is_swapped": number in swapped,
        }
        change = update(Game).where(Game.id == number).values(values)
        database.write(partial(Connection.execute, statement=change))
    database.write(recount)


def recount(connection: Connection) -> None:
    """Have tournaments count games that were changed behind the journal's back."""
    for state, column in (
        (GameState.RUNNING, Tournament.running),
        (GameState.FINISHED, Tournament.finished),
    ):
        games = select(func.count()).where(Game.tournament_id == Tournament.id, Game.state == state)
        connection.execute(update(Tournament).values({column: games.scalar_subquery()}))
