"""Ladders: what their runs are computed from, and what is published."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    case,
    func,
    insert,
    literal,
    select,
    tuple_,
    update,
)

from meijin.game import Party, Result
from meijin.store.tables import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Game,
    GameState,
    Ladder,
    LadderId,
    Rating,
    RatingRun,
    RatingRunId,
)


class UnknownLadderError(LookupError):
    """No ladder has the name or id, or none was named and there are several."""


class UnknownBotError(LookupError):
    """No bot has the id."""


@dataclass(frozen=True, slots=True, order=True)
class PairCount:
    """What a version scored with black against another with white."""

    black_id: BotVersionId
    white_id: BotVersionId
    wins: int
    """Black's, like the losses."""
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """How many games they played with these colours."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, slots=True, order=True)
class FaultCount:
    """How many games a version has forfeited."""

    version_id: BotVersionId
    faults: int


ScoredGame = tuple[BotVersionId, BotVersionId, float]
"""Black, white, and black's points: 1, 0.5 or 0. A million are read at once, so a plain tuple."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a run is computed from, at one instant."""

    ladder_id: LadderId
    name: str
    revision: int
    pair_counts: Sequence[PairCount]
    """Sorted."""
    results: Sequence[ScoredGame]
    """In the order in which the games ended."""
    fault_counts: Sequence[FaultCount]
    """Sorted."""

    @property
    def games(self) -> int:
        """How many games it holds."""
        return len(self.results)

    @property
    def checksum(self) -> str:
        """SHA-256, hexadecimal, of the three inputs in order, as lines of plain numbers.

        The lines are ``black white wins draws losses``, ``black white points`` and
        ``version faults``, so that any SQL shell can make them.
        """
        digest = hashlib.sha256()
        for pair in self.pair_counts:
            line = f"{pair.black_id} {pair.white_id} {pair.wins} {pair.draws} {pair.losses}\n"
            digest.update(line.encode())
        digest.update("".join([f"{b} {w} {points}\n" for b, w, points in self.results]).encode())
        for count in self.fault_counts:
            digest.update(f"{count.version_id} {count.faults}\n".encode())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class NewRating:
    """A version's line of a run to be published."""

    version_id: BotVersionId
    rank: int
    """From 1 on."""
    elo: float
    classic_elo: float
    games: int
    wins: int
    draws: int
    losses: int
    faults: int


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be published."""

    ladder_id: LadderId
    revision: int
    """The revision of the snapshot that it was computed from."""
    games: int
    checksum: str
    algorithm: str
    parameters: dict[str, float]
    create_time: datetime
    ratings: Sequence[NewRating]
    """Best first."""


@dataclass(frozen=True, slots=True)
class LadderSummary:
    """A ladder in a list."""

    id: LadderId
    name: str
    games: int
    """Rated games so far."""
    is_current: bool
    """Every rated game is in the published standings."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was published."""

    id: RatingRunId
    revision: int
    games: int
    checksum: str
    algorithm: str
    parameters: dict[str, float]
    create_time: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """A version's line of a published run."""

    rank: int
    bot_id: BotId
    bot: str
    version_id: BotVersionId
    version: str
    """The version's label; may be empty."""
    elo: float
    classic_elo: float
    games: int
    wins: int
    draws: int
    losses: int
    faults: int


@dataclass(frozen=True, slots=True)
class Standings:
    """A ladder's published table."""

    ladder: LadderSummary
    run: Run | None
    """``None`` before the first run."""
    standings: Sequence[Standing]
    """Best first."""


@dataclass(frozen=True, slots=True)
class PastRating:
    """A version's line of some run."""

    run: Run
    standing: Standing


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """What a bot scored against another, over all versions of both."""

    wins_as_black: int
    draws_as_black: int
    losses_as_black: int
    wins_as_white: int
    draws_as_white: int
    losses_as_white: int


def pair_counts(connection: Connection, ladder_id: LadderId) -> Sequence[PairCount]:
    """The ladder's finished games by colours and result, sorted."""
    query = (
        select(Game.black_id, Game.white_id, Game.result, func.count())
        .where(Game.ladder_id == ladder_id, Game.state == GameState.FINISHED)
        .group_by(Game.black_id, Game.white_id, Game.result)
    )
    scores: dict[tuple[BotVersionId, BotVersionId], Counter[Result]] = defaultdict(Counter)
    for black, white, result, games in connection.execute(query):
        scores[black, white][result] = games
    return sorted(
        PairCount(
            black,
            white,
            wins=score[Result.BLACK_WINS],
            draws=score[Result.DRAW],
            losses=score[Result.WHITE_WINS],
        )
        for (black, white), score in scores.items()
    )


def results_in_order(connection: Connection, ladder_id: LadderId) -> Sequence[ScoredGame]:
    """The ladder's finished games in the order in which they ended."""
    points = case(
        (Game.result == Result.BLACK_WINS, literal(1.0)),
        (Game.result == Result.DRAW, literal(0.5)),
        else_=literal(0.0),
    )
    query = (
        select(Game.black_id, Game.white_id, points)
        .where(Game.ladder_id == ladder_id, Game.state == GameState.FINISHED)
        .order_by(Game.end_sequence)
    )
    return connection.execute(query).all()


def fault_counts(connection: Connection, ladder_id: LadderId) -> Sequence[FaultCount]:
    """How many finished games of the ladder each version has forfeited, sorted."""
    loser = case((Game.at_fault == Party.BLACK, Game.black_id), else_=Game.white_id).label("loser")
    query = (
        select(loser, func.count())
        .where(
            Game.ladder_id == ladder_id,
            Game.state == GameState.FINISHED,
            Game.at_fault.in_((Party.BLACK, Party.WHITE)),
        )
        .group_by(loser)
    )
    return sorted(FaultCount(*row) for row in connection.execute(query))


def snapshot(connection: Connection, ladder_id: LadderId) -> Snapshot:
    """The ladder's revision and inputs; `connection` must be in one reading transaction.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    ladder = _ladder(connection, ladder_id)
    return Snapshot(
        ladder_id=ladder_id,
        name=ladder.name,
        revision=ladder.revision,
        pair_counts=pair_counts(connection, ladder_id),
        results=results_in_order(connection, ladder_id),
        fault_counts=fault_counts(connection, ladder_id),
    )


def is_dirty(connection: Connection, ladder_id: LadderId) -> bool:
    """Whether the ladder has changed since the published run.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    ladder = _ladder(connection, ladder_id)
    return bool(ladder.revision > ladder.run_revision)


def dirty_ladders(connection: Connection) -> list[LadderId]:
    """The ladders that have changed since their published run."""
    query = select(Ladder.id).where(Ladder.revision > Ladder.run_revision).order_by(Ladder.id)
    return list(connection.scalars(query))


def publish(connection: Connection, run: NewRun) -> bool:
    """Make `run` the ladder's published run, unless that is as new already.

    A job that comes twice, late or beside another changes nothing: raising the
    ladder's run revision comes first, and only one transaction can do it.

    Returns:
        Whether it was published.
    """
    ladder = update(Ladder).where(Ladder.id == run.ladder_id)
    claim = ladder.where(Ladder.run_revision < run.revision).values(run_revision=run.revision)
    if not connection.execute(claim).rowcount:
        return False
    row = insert(RatingRun).values(
        ladder_id=run.ladder_id,
        revision=run.revision,
        games=run.games,
        checksum=run.checksum,
        algorithm=run.algorithm,
        parameters=run.parameters,
        create_time=run.create_time,
    )
    run_id = connection.execute(row.returning(RatingRun.id)).scalar_one()
    if run.ratings:
        lines = [{"run_id": run_id, **asdict(rating)} for rating in run.ratings]
        connection.execute(insert(Rating), lines)
    connection.execute(ladder.values(run_id=run_id))
    return True


def list_ladders(
    connection: Connection, *, limit: int = 1000, after: str = ""
) -> Sequence[LadderSummary]:
    """At most `limit` ladders in the order of their names, from the one after `after`."""
    query = _summaries().where(Ladder.name > after).order_by(Ladder.name).limit(limit)
    return [LadderSummary(*row) for row in connection.execute(query)]


def ladder_named(connection: Connection, name: str | None) -> LadderSummary:
    """The ladder of that name; without a name, the only one.

    Raises:
        UnknownLadderError: there is no such ladder, or there are several and no name.
    """
    query = _summaries().where(Ladder.name == name) if name else _summaries().limit(2)
    found = [LadderSummary(*row) for row in connection.execute(query)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(connection.scalars(select(Ladder.name).order_by(Ladder.name).limit(20)))
    if not names:
        raise UnknownLadderError("there is no ladder yet; the first rated tournament makes one")
    problem = f'no ladder "{name}"' if name else "name a ladder"
    raise UnknownLadderError(f"{problem}; there are: {names}")


def standings(connection: Connection, ladder_id: LadderId) -> Standings:
    """The ladder's published table.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    ladder = _ladder(connection, ladder_id)
    summary = connection.execute(_summaries().where(Ladder.id == ladder_id)).one()
    query = _past_ratings().where(Rating.run_id == ladder.run_id).order_by(Rating.rank)
    run = connection.execute(_runs().where(RatingRun.id == ladder.run_id)).one_or_none()
    return Standings(
        ladder=LadderSummary(*summary),
        run=None if run is None else Run(*run),
        standings=[_past_rating(row).standing for row in connection.execute(query)],
    )


def rating_history(
    connection: Connection,
    ladder_id: LadderId,
    bot_id: BotId,
    *,
    limit: int = 100,
    before: tuple[RatingRunId, BotVersionId] | None = None,
) -> Sequence[PastRating]:
    """At most `limit` ratings of the bot's versions, newest run and version first.

    Args:
        before: The run and version of the last line of the page before.

    Raises:
        UnknownLadderError: no ladder has the id.
        UnknownBotError: no bot has the id.
    """
    _ladder(connection, ladder_id)
    _check_bot(connection, bot_id)
    place = tuple_(Rating.run_id, Rating.version_id)
    query = _past_ratings().where(RatingRun.ladder_id == ladder_id, BotVersion.bot_id == bot_id)
    if before is not None:
        query = query.where(place < before)
    query = query.order_by(Rating.run_id.desc(), Rating.version_id.desc()).limit(limit)
    return [_past_rating(row) for row in connection.execute(query)]


def head_to_head(
    connection: Connection, ladder_id: LadderId, bot_id: BotId, other_id: BotId
) -> HeadToHead:
    """What the bot has scored against the other on the ladder.

    Raises:
        UnknownLadderError: no ladder has the id.
        UnknownBotError: no bot has one of the ids.
    """
    _ladder(connection, ladder_id)
    _check_bot(connection, bot_id)
    _check_bot(connection, other_id)
    as_black = _score(connection, ladder_id, bot_id, other_id)
    as_white = _score(connection, ladder_id, other_id, bot_id)
    return HeadToHead(
        wins_as_black=as_black[Result.BLACK_WINS],
        draws_as_black=as_black[Result.DRAW],
        losses_as_black=as_black[Result.WHITE_WINS],
        wins_as_white=as_white[Result.WHITE_WINS],
        draws_as_white=as_white[Result.DRAW],
        losses_as_white=as_white[Result.BLACK_WINS],
    )


def _ladder(connection: Connection, ladder_id: LadderId) -> Row[*tuple[Any, ...]]:
    query = select(Ladder.name, Ladder.revision, Ladder.run_id, Ladder.run_revision)
    row = connection.execute(query.where(Ladder.id == ladder_id)).one_or_none()
    if row is None:
        raise UnknownLadderError(f"no ladder has the id {ladder_id}")
    return row


def _check_bot(connection: Connection, bot_id: BotId) -> None:
    if connection.scalar(select(Bot.id).where(Bot.id == bot_id)) is None:
        raise UnknownBotError(f"no bot has the id {bot_id}")


def _summaries() -> Select[LadderId, str, int, bool]:
    """The columns of `LadderSummary`."""
    games = (
        select(func.count())
        .where(Game.ladder_id == Ladder.id, Game.state == GameState.FINISHED)
        .scalar_subquery()
    )
    return select(Ladder.id, Ladder.name, games, Ladder.revision <= Ladder.run_revision)


_RUN = (
    RatingRun.id,
    RatingRun.revision,
    RatingRun.games,
    RatingRun.checksum,
    RatingRun.algorithm,
    RatingRun.parameters,
    RatingRun.create_time,
)


def _runs() -> Select[*tuple[Any, ...]]:
    """The columns of `Run`."""
    return select(*_RUN)


def _past_ratings() -> Select[*tuple[Any, ...]]:
    """The columns of `Run`, then those of `Standing`."""
    return (
        select(
            *_RUN,
            Rating.rank,
            Bot.id,
            Bot.name,
            BotVersion.id,
            BotVersion.label,
            Rating.elo,
            Rating.classic_elo,
            Rating.games,
            Rating.wins,
            Rating.draws,
            Rating.losses,
            Rating.faults,
        )
        .join(Rating, Rating.run_id == RatingRun.id)
        .join(BotVersion, BotVersion.id == Rating.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
    )


def _past_rating(row: Row[*tuple[Any, ...]]) -> PastRating:
    return PastRating(Run(*row[: len(_RUN)]), Standing(*row[len(_RUN) :]))


def _score(
    connection: Connection, ladder_id: LadderId, black: BotId, white: BotId
) -> Counter[Result]:
    """How often each result came about between two bots' versions with these colours."""
    query = (
        select(Game.result, func.count())
        .where(
            Game.ladder_id == ladder_id,
            Game.state == GameState.FINISHED,
            Game.black_id.in_(select(BotVersion.id).where(BotVersion.bot_id == black)),
            Game.white_id.in_(select(BotVersion.id).where(BotVersion.bot_id == white)),
        )
        .group_by(Game.result)
    )
    return Counter(dict(connection.execute(query).all()))
