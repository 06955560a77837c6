"""Voided games of a ladder: what they were, which their faults keep as evidence."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from meijin.game import Ending, Party, Result
from meijin.store.schema import Fault, Game, GameId, LadderId


class VoidedResult(NamedTuple):
    """What a game was before it was voided."""

    result: Result
    at_fault: Party


def void_evidence(reason: str, game: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    """The evidence of the fault of a finished game that is voided: what it was, and why."""
    return {
        "reason": reason,
        "result": game.result.value,
        "ending": game.ending.value,
        "at_fault": game.at_fault.value,
        "detail": game.detail,
    }


def voided_since(
    connection: Connection, ladder_id: LadderId, *, after: int
) -> dict[GameId, VoidedResult]:
    """A ladder's finished games that were voided, but for the first so many of them."""
    query = (
        select(Fault.game_id, Fault.evidence)
        .join(Game, Game.id == Fault.game_id)
        .where(
            Game.ladder_id == ladder_id,
            Fault.ending == Ending.VOID,
            Fault.party == Party.OPERATOR,
        )
        .order_by(Fault.id)
    )
    voids = [row for row in connection.execute(query) if "result" in row.evidence]  # was finished
    return {
        GameId(row.game_id): VoidedResult(
            Result(row.evidence["result"]), Party(row.evidence["at_fault"])
        )
        for row in voids[after:]
    }
