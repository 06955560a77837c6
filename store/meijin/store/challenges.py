"""Challenges: who made them, how they stand, and what they take of a budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    case,
    func,
    insert,
    or_,
    select,
)
from sqlalchemy.orm import InstrumentedAttribute, aliased

from meijin.game import Result, TimeControl, Variant
from meijin.store.errors import UnknownChallengeError
from meijin.store.people import is_person, is_person_name
from meijin.store.schema import (
    TOURNAMENT_IS_NOT_FINISHED,
    Bot,
    BotId,
    BotVersion,
    Challenge,
    ChallengeColors,
    Game,
    GameState,
    Owner,
    OwnerId,
    Tournament,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments.openings import decode_openings
from meijin.store.tournaments.sides import read_time_controls

_IS_RUNNING = (Tournament.state == TournamentState.RUNNING, TOURNAMENT_IS_NOT_FINISHED)


@dataclass(frozen=True, slots=True)
class NewChallenge:
    """Who made a challenge, and for how many games."""

    tournament_id: TournamentId
    challenger_id: BotId
    opponent_id: BotId
    games: int
    colors: ChallengeColors
    owner_id: OwnerId | None
    """``None`` for a person and for an operator."""


@dataclass(frozen=True, slots=True)
class Maker:
    """Who makes challenges, for what it has made."""

    owner_id: OwnerId | None = None
    person_id: BotId | None = None
    """Operators are neither: theirs are those of no owner and no person."""


@dataclass(frozen=True, slots=True)
class ChallengeRow:
    """A challenge and how far it is."""

    id: TournamentId
    challenger_id: BotId
    challenger: str
    opponent_id: BotId
    opponent: str
    owner_id: OwnerId | None
    owner: str
    """Who made it; empty for a person and for an operator."""
    games: int
    colors: ChallengeColors
    variant: Variant
    time_control: TimeControl
    """The challenger's."""
    opponent_time_control: TimeControl
    openings: Sequence[bytes]
    """Those it was given; an empty one is the empty board, and none are the server's own."""
    state: TournamentState
    finished: int
    running: int
    wins: int
    """The challenger's."""
    draws: int
    losses: int
    create_time: datetime
    end_time: datetime | None

    @property
    def is_by_person(self) -> bool:
        """Whether a person plays it."""
        return is_person_name(self.challenger)


def add_challenge(connection: Connection, new: NewChallenge, now: datetime) -> None:
    """Keep who made a challenge, whose tournament is stored."""
    values = {
        "tournament_id": new.tournament_id,
        "challenger_id": new.challenger_id,
        "opponent_id": new.opponent_id,
        "games": new.games,
        "colors": new.colors,
        "owner_id": new.owner_id,
        "create_time": now,
    }
    connection.execute(insert(Challenge).values(values))


def get_challenge(connection: Connection, challenge_id: TournamentId) -> ChallengeRow:
    """One challenge.

    Raises:
        UnknownChallengeError: there is none of that id.
    """
    rows = _rows(connection, _challenges().where(Challenge.tournament_id == challenge_id))
    if not rows:
        message = f"no challenge {challenge_id}; list the challenges to see their ids"
        raise UnknownChallengeError(message)
    return rows[0]


def list_challenges(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    maker: Maker | None = None,
    is_running: bool = False,
) -> Sequence[ChallengeRow]:
    """Challenges, newest first, from the one before the id `before`.

    Args:
        maker: Only those that it has made.
        is_running: Only those that are not over.
    """
    query = _challenges().order_by(Challenge.tournament_id.desc()).limit(limit)
    if before is not None:
        query = query.where(Challenge.tournament_id < before)
    if maker is not None:
        query = query.where(_made_by(maker))
    if is_running:
        query = query.where(*_IS_RUNNING)
    return _rows(connection, query)


def is_made_by(challenge: ChallengeRow, maker: Maker) -> bool:
    """Whether somebody has made a challenge."""
    if maker.person_id is not None:
        return challenge.challenger_id == maker.person_id
    return challenge.owner_id == maker.owner_id and not challenge.is_by_person


def games_at_once(connection: Connection, maker: Maker) -> int:
    """Games of a maker's challenges that run or wait."""
    left = func.sum(Tournament.planned - Tournament.finished)
    query = _of_running(left).where(_made_by(maker))
    return int(connection.scalar(query) or 0)


def challenges_at_once(connection: Connection) -> tuple[int, int]:
    """How many challenges are running altogether, and how many of them are people's."""
    people = func.sum(case((is_person(), 1), else_=0))
    query = _of_running(func.count(), people).join(Bot, Bot.id == Challenge.challenger_id)
    altogether, by_people = connection.execute(query).one()
    return altogether, int(by_people or 0)


def challenges_of_people(connection: Connection) -> Mapping[TournamentId, BotId]:
    """The challenges of people that are running, each with its person."""
    query = _of_running(Challenge.tournament_id, Challenge.challenger_id)
    by_people = query.join(Bot, Bot.id == Challenge.challenger_id).where(is_person())
    return {row.tournament_id: row.challenger_id for row in connection.execute(by_people)}


def games_since(
    connection: Connection, maker: Maker, start: datetime
) -> Sequence[tuple[datetime, int]]:
    """When a maker has made challenges since `start`, and of how many games, oldest first."""
    query = (
        select(Challenge.create_time, Challenge.games)
        .where(_made_by(maker), Challenge.create_time > start)
        .order_by(Challenge.tournament_id)
    )
    return [(row.create_time, row.games) for row in connection.execute(query)]


def _of_running(
    *columns: ColumnElement[Any] | InstrumentedAttribute[Any],
) -> Select[*tuple[Any, ...]]:
    joined = select(*columns).select_from(Challenge)
    return joined.join(Tournament, Tournament.id == Challenge.tournament_id).where(*_IS_RUNNING)


def _made_by(maker: Maker) -> ColumnElement[bool]:
    if maker.person_id is not None:
        return Challenge.challenger_id == maker.person_id
    if maker.owner_id is not None:
        return Challenge.owner_id == maker.owner_id
    person = select(Bot.id).where(Bot.id == Challenge.challenger_id, is_person())
    return and_(Challenge.owner_id.is_(None), ~person.exists())


def _challenges() -> Select[*tuple[Any, ...]]:
    challenger, opponent = aliased(Bot), aliased(Bot)
    return (
        select(
            Challenge.__table__,
            Tournament.__table__,
            challenger.name.label("challenger"),
            opponent.name.label("opponent"),
            func.coalesce(Owner.name, "").label("owner"),
        )
        .select_from(Challenge)
        .join(Tournament, Tournament.id == Challenge.tournament_id)
        .join(challenger, challenger.id == Challenge.challenger_id)
        .join(opponent, opponent.id == Challenge.opponent_id)
        .outerjoin(Owner, Owner.id == Challenge.owner_id)
    )


def _rows(connection: Connection, query: Select[*tuple[Any, ...]]) -> Sequence[ChallengeRow]:
    found = connection.execute(query).all()
    scores = _scores(connection, [row.id for row in found])
    return [_row(row, scores.get(row.id, (0, 0, 0))) for row in found]


def _row(row: Row[*tuple[Any, ...]], score: tuple[int, int, int]) -> ChallengeRow:
    controls = read_time_controls(row.time_controls)
    wins, draws, losses = score
    return ChallengeRow(
        id=row.id,
        challenger_id=row.challenger_id,
        challenger=row.challenger,
        opponent_id=row.opponent_id,
        opponent=row.opponent,
        owner_id=row.owner_id,
        owner=row.owner,
        games=row.games,
        colors=row.colors,
        variant=row.variant,
        time_control=controls.get(row.challenger_id, row.time_control),
        opponent_time_control=controls.get(row.opponent_id, row.time_control),
        openings=decode_openings(row.openings),
        state=row.state,
        finished=row.finished,
        running=row.running,
        wins=wins,
        draws=draws,
        losses=losses,
        create_time=row.create_time,
        end_time=row.end_time,
    )


def _scores(
    connection: Connection, ids: Sequence[TournamentId]
) -> Mapping[TournamentId, tuple[int, int, int]]:
    """The challenger's games won, drawn and lost of each challenge."""
    black = aliased(BotVersion)
    is_black = black.bot_id == Challenge.challenger_id
    has_won = or_(
        and_(is_black, Game.result == Result.BLACK_WINS),
        and_(~is_black, Game.result == Result.WHITE_WINS),
    )
    wins, draws = (
        func.sum(case((condition, 1), else_=0))
        for condition in (has_won, Game.result == Result.DRAW)
    )
    query = (
        select(Game.tournament_id, func.count().label("all"), wins, draws)
        .join(Challenge, Challenge.tournament_id == Game.tournament_id)
        .join(black, black.id == Game.black_id)
        .where(Game.tournament_id.in_(ids), Game.state == GameState.FINISHED)
        .group_by(Game.tournament_id)
    )
    return {
        key: (won, drawn, count - won - drawn)
        for key, count, won, drawn in connection.execute(query)
    }
