"""Tournaments made, at once or part by part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, delete, select, update

from meijin.game import TIME_CLASSES, TimeClasses, TimeControl
from meijin.store.rows import add_row, add_rows
from meijin.store.schema import (
    TOURNAMENT_IS_NOT_FINISHED,
    BotId,
    Entrant,
    LadderId,
    OwnerId,
    Pairing,
    Tournament,
    TournamentId,
    TournamentSettings,
    TournamentState,
)
from meijin.store.tournaments.pairings import (
    PlannedGame,
    PlannedGames,
    enter,
    insert_pairings,
    ladder_name,
    ladder_of,
)

_IS_IN_PLANNING = (Tournament.state == TournamentState.PLANNING, TOURNAMENT_IS_NOT_FINISHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTournament(TournamentSettings):
    """What a tournament is made of."""

    bots: tuple[BotId, ...]
    schedule: PlannedGames = ()
    """Empty for one whose games are planned or stored later."""
    is_rated: bool
    request_id: str | None = None
    time_classes: TimeClasses = TIME_CLASSES
    """Those that its ladder is one of."""
    time_controls: Mapping[BotId, TimeControl] = field(default_factory=dict)
    """Of every bot where they differ; empty where all have `time_control`."""
    owner_id: OwnerId | None = None
    """Whose it is; ``None`` for an operator's, and for a challenge."""

    @property
    def ladder(self) -> str:
        """Of its variant and time control, where it is rated; it may have no game yet."""
        return ladder_name(self.variant, self.time_classes.of(self.time_control))

    def ladder_id(self, connection: Connection) -> LadderId | None:
        """The ladder of its rated games, made when there is none; ``None`` if it is not rated."""
        if not self.is_rated:
            return None
        return ladder_of(connection, self.variant, self.time_classes.of(self.time_control))


def find_request(
    connection: Connection, request_id: str
) -> tuple[TournamentId, TournamentState] | None:
    """The tournament that a request has made already, if any, and where it stands."""
    query = select(Tournament.id, Tournament.state).where(Tournament.request_id == request_id)
    row = connection.execute(query).one_or_none()
    return row and (row.id, row.state)


def add_tournament(
    connection: Connection,
    new: NewTournament,
    now: datetime,
    state: TournamentState = TournamentState.RUNNING,
) -> TournamentId:
    tournament = Tournament(
        **new.values(),
        ladder_id=new.ladder_id(connection),
        create_time=now,
        request_id=new.request_id,
        state=state,
        planned=len(new.schedule),
        time_controls=new.time_controls,
        owner_id=new.owner_id,
    )
    tournament_id = add_row(connection, tournament).id
    add_rows(
        connection,
        (
            Entrant(tournament_id=tournament_id, seat=seat, bot_id=bot_id)
            for seat, bot_id in enumerate(new.bots)
        ),
    )
    if new.schedule and not new.bots:
        enter(connection, tournament_id, new.schedule)
    insert_pairings(connection, tournament_id, 1, new.schedule)
    return tournament_id


def add_games(
    connection: Connection, tournament_id: TournamentId, first: int, games: Sequence[PlannedGame]
) -> None:
    """Store a part of a schedule, numbered from `first` on, of a tournament in planning.

    It does nothing where that is done: the commit may have happened and its answer been lost.
    """
    begun = update(Tournament).where(
        Tournament.id == tournament_id, Tournament.planned == first - 1
    )
    last = first - 1 + len(games)
    if connection.execute(begun.values(planned=last)).rowcount:
        insert_pairings(connection, tournament_id, first, games)


def begin(connection: Connection, tournament_id: TournamentId) -> None:
    """Have a tournament played whose games are all stored."""
    planned = update(Tournament).where(
        Tournament.id == tournament_id, Tournament.state == TournamentState.PLANNING
    )
    connection.execute(planned.values(state=TournamentState.RUNNING))


def is_in_planning(connection: Connection, owner_id: OwnerId) -> bool:
    """Whether a tournament of an owner is being stored part by part."""
    query = select(Tournament.id).where(*_IS_IN_PLANNING, Tournament.owner_id == owner_id)
    return connection.scalar(query.limit(1)) is not None


def forget_requests_in_planning(connection: Connection) -> None:
    """Have the requests of tournaments in planning, which nobody completes, make them anew."""
    half_made = update(Tournament).where(*_IS_IN_PLANNING)
    connection.execute(half_made.values(request_id=None))


def drop_half_made(connection: Connection, *, limit: int) -> bool:
    """Delete at most this many games of tournaments in planning; tell whether there are more."""
    forget_requests_in_planning(connection)
    half_made = select(Tournament.id).where(*_IS_IN_PLANNING)
    tournament_id = connection.scalar(half_made.order_by(Tournament.id).limit(1))
    if tournament_id is None:
        return False
    mine = Tournament.id == tournament_id
    numbers = select(Pairing.number).where(Pairing.tournament_id == tournament_id)
    last = connection.scalar(numbers.order_by(Pairing.number).offset(limit - 1).limit(1))
    pairings = delete(Pairing).where(Pairing.tournament_id == tournament_id)
    connection.execute(pairings if last is None else pairings.where(Pairing.number <= last))
    if last is None:
        connection.execute(delete(Entrant).where(Entrant.tournament_id == tournament_id))
        connection.execute(delete(Tournament).where(mine))
    return True
