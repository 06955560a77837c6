"""Where tournaments stand, and how they end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, select, update

from meijin.store.errors import RowNotFoundError
from meijin.store.rows import change_row
from meijin.store.schema import (
    TOURNAMENT_IS_NOT_FINISHED,
    Game,
    Ladder,
    LadderId,
    OwnerId,
    Pairing,
    RatingRun,
    Tournament,
    TournamentId,
    TournamentState,
    aliased,
)
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR

_MAX_VERDICT = 200
"""Characters kept of why a tournament ended."""
_IS_RUNNING = (Tournament.state == TournamentState.RUNNING, TOURNAMENT_IS_NOT_FINISHED)
IS_MADE = Tournament.state != TournamentState.PLANNING
"""One in planning is there for nobody."""


@dataclass(frozen=True, slots=True)
class TournamentEnd:
    """The end of a tournament."""

    id: TournamentId
    time: datetime
    verdict: str = ""
    """Why it ended; where a finished one says so, the pairs that have not begun are dropped."""
    state: TournamentState = TournamentState.FINISHED
    """`CANCELLED` for one that may be resumed: all of its pairs stay."""


class Load(NamedTuple):
    """What there is to be played."""

    tournaments: int
    """Those that are running."""
    games: int
    """Theirs that have no result."""


def load_of(connection: Connection, owner_id: OwnerId | None = None) -> Load:
    """What there is to be played now, altogether or of an owner's tournaments."""
    left = func.sum(Tournament.planned - Tournament.finished)
    query = select(func.count(), left).where(*_IS_RUNNING)
    if owner_id is not None:
        # The sum keeps SQLite from reading all that the owner has ever made, by the other index.
        query = query.where(Tournament.owner_id + 0 == owner_id)
    count, games = connection.execute(query).one()
    return Load(count, int(games or 0))


def nth_newest(connection: Connection, owner_id: OwnerId, number: int) -> datetime | None:
    """When the newest, second, ... tournament of an owner was made; ``None`` if there is none."""
    query = select(Tournament.create_time).where(Tournament.owner_id == owner_id)
    newest = query.order_by(Tournament.id.desc()).offset(number - 1).limit(1)
    return connection.scalar(newest)


def running_tournaments(connection: Connection) -> Sequence[TournamentId]:
    """The tournaments to be played on, oldest first."""
    query = select(Tournament.id).where(*_IS_RUNNING)
    return connection.scalars(query.order_by(Tournament.id)).all()


def get_state(connection: Connection, tournament_id: TournamentId) -> TournamentState:
    """Where a tournament stands.

    Raises:
        RowNotFoundError: there is none of that id.
    """
    query = select(Tournament.state).where(Tournament.id == tournament_id, IS_MADE)
    state = connection.scalar(query)
    if state is None:
        raise unknown_tournament(tournament_id)
    return state


def set_state(connection: Connection, tournament_id: TournamentId, state: TournamentState) -> None:
    """Cancel a tournament or take it up again, whatever it was cancelled for."""
    end = {"end_sequence": _next_end(connection)} if state is TournamentState.CANCELLED else {}
    change_row(connection, Tournament, tournament_id, state=state, verdict="", **end)


def finish_tournament(connection: Connection, end: TournamentEnd) -> None:
    """Write the end of a tournament that is running, and drop what a finished one has not begun.

    That is by pairs of games: of one that has begun the other game waits, and is played where a
    void takes the tournament up again.
    """
    change = update(Tournament).where(
        Tournament.id == end.id, Tournament.state == TournamentState.RUNNING
    )
    is_finished = end.state is TournamentState.FINISHED
    values = {
        "state": end.state,
        "end_time": end.time if is_finished else None,
        "verdict": end.verdict[:_MAX_VERDICT],
        "end_sequence": _next_end(connection),
    }
    is_ended = connection.execute(change.values(values)).rowcount
    if is_ended and is_finished and end.verdict:
        played = aliased(Pairing)
        begun = select((played.number + 1) // GAMES_OF_A_PAIR).join(
            Game, Game.pairing_id == played.id
        )
        dropped = delete(Pairing).where(
            Pairing.tournament_id == end.id,
            ((Pairing.number + 1) // GAMES_OF_A_PAIR).not_in(
                begun.where(Game.tournament_id == end.id)
            ),
        )
        count = connection.execute(dropped).rowcount
        change_row(connection, Tournament, end.id, planned=Tournament.planned - count)


def last_end(connection: Connection) -> int:
    return connection.scalar(select(func.max(Tournament.end_sequence))) or 0


def _next_end(connection: Connection) -> int:
    """The `end_sequence` of a tournament that ends now: one writer gives them."""
    return last_end(connection) + 1


def settled_ladder(connection: Connection, tournament_id: TournamentId) -> LadderId | None:
    """The ladder that a tournament has settled: it was to, and is finished; else ``None``."""
    query = select(Tournament.ladder_id, Tournament.options).where(
        Tournament.id == tournament_id, Tournament.state == TournamentState.FINISHED
    )
    row = connection.execute(query).first()
    return row.ladder_id if row is not None and (row.options or {}).get("final") else None


def settled_last(connection: Connection, ladder_id: LadderId) -> TournamentId | None:
    """The finished tournament whose final run is the ladder's newest; ``None`` where there is none."""
    query = (
        select(Tournament.id)
        .join(RatingRun, RatingRun.final_of == Tournament.id)
        .join(Ladder, Ladder.run_id == RatingRun.id)
        .where(Ladder.id == ladder_id, Tournament.state == TournamentState.FINISHED)
    )
    return connection.scalar(query)


def add_to_verdict(connection: Connection, tournament_id: TournamentId, words: str) -> None:
    """Say more of a tournament that has ended."""
    verdict = connection.scalar(select(Tournament.verdict).where(Tournament.id == tournament_id))
    said = f"{verdict}; {words}"[:_MAX_VERDICT]
    change_row(connection, Tournament, tournament_id, verdict=said)


def unknown_tournament(tournament_id: TournamentId) -> RowNotFoundError:
    message = f"no tournament {tournament_id}; list the tournaments to see their ids"
    return RowNotFoundError(message)
