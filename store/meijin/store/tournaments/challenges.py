"""Challenges: who made them, how they stand, and what they take of a budget."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    func,
    literal,
    or_,
    select,
)

from meijin.game import Result, TimeControl, Variant
from meijin.store.access.people import is_person, is_person_name
from meijin.store.errors import RowNotFoundError
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    TOURNAMENT_IS_NOT_FINISHED,
    Bot,
    BotId,
    BotVersion,
    Challenge,
    ChallengePolicy,
    Game,
    GameState,
    Owner,
    OwnerId,
    Score,
    Tournament,
    TournamentId,
    TournamentState,
    aliased,
    computed,
)

_IS_RUNNING = (Tournament.state == TournamentState.RUNNING, TOURNAMENT_IS_NOT_FINISHED)
_CHALLENGER, _OPPONENT = aliased(Bot), aliased(Bot)


@dataclass(frozen=True, slots=True)
class Maker:
    """Who makes challenges, for what it has made."""

    owner_id: OwnerId | None = None
    person_id: BotId | None = None
    """Operators are neither: theirs are those of no owner and no person."""


class ChallengeRow(Challenge):
    """A challenge and how far it is."""

    id: TournamentId = computed(Tournament.id)
    challenger: str = computed(_CHALLENGER.name)
    opponent: str = computed(_OPPONENT.name)
    owner: str = computed(func.coalesce(Owner.name, ""))
    """Who made it; empty for a person and for an operator."""
    variant: Variant = computed(Tournament.variant)
    common_control: TimeControl = computed(Tournament.time_control)
    time_controls: Mapping[BotId, TimeControl] = computed(Tournament.time_controls)
    """Of both where they differ from the common one; else none."""
    openings: Sequence[bytes] = computed(Tournament.openings)
    """Those it was given; an empty one is the empty board, and none are the server's own."""
    state: TournamentState = computed(Tournament.state)
    finished: int = computed(Tournament.finished)
    running: int = computed(Tournament.running)
    end_time: datetime | None = computed(Tournament.end_time)
    wins: int = computed(literal(0))
    """The challenger's."""
    draws: int = computed(literal(0))
    losses: int = computed(literal(0))

    @property
    def time_control(self) -> TimeControl:
        """The challenger's."""
        return self.time_controls.get(self.challenger_id, self.common_control)

    @property
    def opponent_time_control(self) -> TimeControl:
        return self.time_controls.get(self.opponent_id, self.common_control)

    @property
    def is_by_person(self) -> bool:
        return is_person_name(self.challenger)


def get_challenge(connection: Connection, challenge_id: TournamentId) -> ChallengeRow:
    """One challenge.

    Raises:
        RowNotFoundError: there is none of that id.
    """
    rows = _rows(connection, _challenges().where(Challenge.tournament_id == challenge_id))
    if not rows:
        message = f"no challenge {challenge_id}; list the challenges to see their ids"
        raise RowNotFoundError(message)
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


def open_to_anyone(connection: Connection, bots: Collection[BotId], *, limit: int) -> Sequence[str]:
    """The names of those of some bots that accept anyone and are not hidden, in order."""
    query = select(Bot.name).where(
        Bot.id.in_(bots), Bot.challenges == ChallengePolicy.ANYONE, Bot.is_hidden.is_(False)
    )
    return connection.scalars(query.order_by(Bot.name).limit(limit)).all()


def is_made_by(challenge: ChallengeRow, maker: Maker) -> bool:
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
    *columns: ColumnElement[Any],
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
    return (
        select(*columns_of(ChallengeRow))
        .select_from(Challenge)
        .join(Tournament, Tournament.id == Challenge.tournament_id)
        .join(_CHALLENGER, _CHALLENGER.id == Challenge.challenger_id)
        .join(_OPPONENT, _OPPONENT.id == Challenge.opponent_id)
        .outerjoin(Owner, Owner.id == Challenge.owner_id)
    )


def _rows(connection: Connection, query: Select[*tuple[Any, ...]]) -> Sequence[ChallengeRow]:
    found = read_rows(ChallengeRow, connection.execute(query))
    scores = _scores(connection, [row.id for row in found])
    scored = ((row, scores.get(row.id, Score())) for row in found)
    return [replace(row, wins=it.wins, draws=it.draws, losses=it.losses) for row, it in scored]


def _scores(connection: Connection, ids: Sequence[TournamentId]) -> Mapping[TournamentId, Score]:
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
        key: Score(won, drawn, count - won - drawn)
        for key, count, won, drawn in connection.execute(query)
    }
