"""Ladders: what is published of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from meijin.game import Result
from meijin.store.rated_games import is_rated
from meijin.store.tables import (
    Anchor,
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Game,
    Ladder,
    LadderId,
    Posterior,
    Rating,
    RatingDay,
    RatingRun,
    RatingRunId,
)

KEPT_RUNS = 100
"""So many of a ladder's runs are kept whole, and of those before them the last of each day."""
MAX_ANCHORS = 3


class UnknownLadderError(LookupError):
    """No ladder has the name or id, or none was named and there are several."""


class UnknownBotError(LookupError):
    """No bot has the id."""


class UnknownRunError(LookupError):
    """A ladder has no run of that number, or has forgotten it."""


@dataclass(frozen=True, slots=True)
class Score:
    """Games by their results."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """How many there are."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, slots=True)
class Line:
    """What a run says of one version."""

    rank: int
    """From 1 on."""
    elo: float
    margin: float
    """Half of the 95 % interval, relative to the anchors; Elo."""
    superiority: float | None
    """The chance to be stronger than the next in rank; ``None`` for the last."""
    classic_elo: float
    opponents_elo: float
    """The mean over its games."""
    wins_as_black: int
    draws_as_black: int
    losses_as_black: int
    wins_as_white: int
    draws_as_white: int
    losses_as_white: int
    faults: int
    is_anchor: bool
    is_provisional: bool
    is_linked: bool

    @property
    def as_black(self) -> Score:
        """The rated games with the black stones."""
        return Score(self.wins_as_black, self.draws_as_black, self.losses_as_black)

    @property
    def as_white(self) -> Score:
        """The rated games with the white stones."""
        return Score(self.wins_as_white, self.draws_as_white, self.losses_as_white)


@dataclass(frozen=True, slots=True)
class NewRating:
    """A version's line of a run to be published."""

    version_id: BotVersionId
    line: Line


@dataclass(frozen=True, slots=True)
class Covariances:
    """What the errors of a run's ratings have in common."""

    version_ids: bytes
    """Of the rows and columns: eight bytes each, little-endian."""
    matrix: bytes
    """Row by row, in Elo squared, up to a constant: four bytes each, little-endian floats."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be published."""

    ladder_id: LadderId
    revision: int
    """The revision of the snapshot that it was computed from."""
    voided: int
    cutoff: int
    games: int
    repeats: int
    checksum: str
    algorithm: str
    parameters: dict[str, Any]
    create_time: datetime
    ratings: Sequence[NewRating]
    """Best first."""
    covariances: Covariances | None
    """``None`` for a pool too large to keep them."""


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
    voided: int
    """How many finished games of the ladder had been voided."""
    cutoff: int
    """The `end_sequence` of the last game that went into it."""
    games: int
    repeats: int
    checksum: str
    algorithm: str
    parameters: dict[str, Any]
    create_time: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """A version's line of a published run."""

    bot_id: BotId
    bot: str
    version_id: BotVersionId
    version: str
    """The version's label; may be empty."""
    line: Line


@dataclass(frozen=True, slots=True)
class Standings:
    """A ladder's table."""

    ladder: LadderSummary
    run: Run | None
    """``None`` before the first run."""
    standings: Sequence[Standing]
    """Best first."""


@dataclass(frozen=True, slots=True)
class NewDayRating:
    """A version's rating by the games up to the end of a day, to be kept."""

    day: date
    version_id: BotVersionId
    elo: float
    margin: float
    games: int


@dataclass(frozen=True, slots=True)
class DayRating:
    """A version's rating by the games up to the end of a day."""

    day: date
    version_id: BotVersionId
    version: str
    """The version's label; may be empty."""
    elo: float
    margin: float
    games: int


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """What a bot scored against another, over all versions of both; rated games alone."""

    as_black: Score
    as_white: Score


# -- runs -------------------------------------------------------------------------


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


def published_ladders(connection: Connection) -> Sequence[LadderId]:
    """The ladders that have a run."""
    return connection.scalars(select(Ladder.id).where(Ladder.run_id.is_not(None))).all()


def mark_outdated(connection: Connection, algorithm: str) -> None:
    """Make dirty the ladders whose published run is of another algorithm."""
    outdated = select(RatingRun.id).where(RatingRun.algorithm != algorithm)
    change = update(Ladder).where(Ladder.run_id.in_(outdated))
    clean = change.where(Ladder.revision <= Ladder.run_revision)
    connection.execute(clean.values(revision=Ladder.run_revision + 1))


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
        voided=run.voided,
        cutoff=run.cutoff,
        games=run.games,
        repeats=run.repeats,
        checksum=run.checksum,
        algorithm=run.algorithm,
        parameters=run.parameters,
        create_time=run.create_time,
    )
    run_id = connection.execute(row.returning(RatingRun.id)).scalar_one()
    if run.ratings:
        lines = [
            {"run_id": run_id, "version_id": rating.version_id, **asdict(rating.line)}
            for rating in run.ratings
        ]
        connection.execute(insert(Rating), lines)
    _keep_covariances(connection, run, run_id)
    connection.execute(ladder.values(run_id=run_id))
    _forget_runs(connection, run.ladder_id)
    return True


def _keep_covariances(connection: Connection, run: NewRun, run_id: RatingRunId) -> None:
    connection.execute(delete(Posterior).where(Posterior.ladder_id == run.ladder_id))
    if run.covariances is not None:
        row = insert(Posterior).values(
            ladder_id=run.ladder_id,
            run_id=run_id,
            version_ids=run.covariances.version_ids,
            matrix=run.covariances.matrix,
        )
        connection.execute(row)


def _forget_runs(connection: Connection, ladder_id: LadderId) -> None:
    """Delete what lies before the newest runs, but for the last of each day."""
    mine = RatingRun.ladder_id == ladder_id
    newest = select(RatingRun.id).where(mine).order_by(RatingRun.id.desc())
    first_kept = connection.scalar(newest.offset(KEPT_RUNS - 1).limit(1))
    if first_kept is None:
        return
    last_of_days = (
        select(func.max(RatingRun.id)).where(mine).group_by(func.date(RatingRun.create_time))
    )
    old = (mine, RatingRun.id < first_kept, RatingRun.id.not_in(last_of_days))
    keys = list(connection.scalars(select(RatingRun.id).where(*old)))
    connection.execute(delete(Rating).where(Rating.run_id.in_(keys)))
    connection.execute(delete(RatingRun).where(RatingRun.id.in_(keys)))


# -- anchors ----------------------------------------------------------------------


def anchors(connection: Connection, ladder_id: LadderId) -> Sequence[BotVersionId]:
    """The versions that the ladder's ratings are relative to, sorted."""
    query = select(Anchor.version_id).where(Anchor.ladder_id == ladder_id)
    return connection.scalars(query.order_by(Anchor.version_id)).all()


def set_anchors(
    connection: Connection, ladder_id: LadderId, version_ids: Iterable[BotVersionId]
) -> None:
    """Make the ladder's ratings relative to some versions; without any, to their mean."""
    connection.execute(delete(Anchor).where(Anchor.ladder_id == ladder_id))
    rows = [{"ladder_id": ladder_id, "version_id": key} for key in version_ids]
    if rows:
        connection.execute(insert(Anchor), rows)
    change = update(Ladder).where(Ladder.id == ladder_id)
    connection.execute(change.values(revision=Ladder.revision + 1))


def newest_version(connection: Connection, bot_id: BotId) -> BotVersionId | None:
    """The bot's newest version; ``None`` when it has never been there."""
    query = select(func.max(BotVersion.id)).where(BotVersion.bot_id == bot_id)
    return connection.scalar(query)


# -- what is published -----------------------------------------------------------


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


def standings(
    connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> Standings:
    """The ladder's published table, or that of an earlier run.

    Raises:
        UnknownLadderError: no ladder has the id.
        UnknownRunError: the ladder has no such run, or not any more.
    """
    ladder = _ladder(connection, ladder_id)
    summary = connection.execute(_summaries().where(Ladder.id == ladder_id)).one()
    wanted = ladder.run_id if run_id is None else run_id
    mine = (RatingRun.id == wanted, RatingRun.ladder_id == ladder_id)
    run = connection.execute(select(*_RUN).where(*mine)).one_or_none()
    if run is None and run_id is not None:
        raise UnknownRunError(f'ladder "{ladder.name}" has no run {run_id}, or not any more')
    query = _standings().where(Rating.run_id == wanted).order_by(Rating.rank)
    return Standings(
        ladder=LadderSummary(*summary),
        run=None if run is None else Run(*run),
        standings=[] if run is None else [_standing(row) for row in connection.execute(query)],
    )


def covariances(connection: Connection, ladder_id: LadderId) -> Covariances | None:
    """Of the published run's ratings; ``None`` before the first, and for very large pools."""
    query = select(Posterior.version_ids, Posterior.matrix)
    row = connection.execute(query.where(Posterior.ladder_id == ladder_id)).one_or_none()
    return None if row is None else Covariances(*row)


# -- history ----------------------------------------------------------------------


def voided_games(connection: Connection, ladder_id: LadderId) -> int:
    """How many of the ladder's finished games have been voided."""
    return connection.scalar(select(Ladder.voided).where(Ladder.id == ladder_id)) or 0


def history_state(connection: Connection, ladder_id: LadderId) -> dict[str, Any] | None:
    """What the history was rebuilt from; ``None`` when it never was."""
    return connection.scalar(select(Ladder.history).where(Ladder.id == ladder_id))


def replace_history(
    connection: Connection,
    ladder_id: LadderId,
    days: Sequence[NewDayRating],
    state: dict[str, Any],
) -> None:
    """Put a rebuilt history in the place of the old one."""
    connection.execute(delete(RatingDay).where(RatingDay.ladder_id == ladder_id))
    if days:
        connection.execute(
            insert(RatingDay), [{"ladder_id": ladder_id, **asdict(day)} for day in days]
        )
    connection.execute(update(Ladder).where(Ladder.id == ladder_id).values(history=state))


def rating_history(
    connection: Connection,
    ladder_id: LadderId,
    bot_id: BotId,
    *,
    limit: int = 100,
    before: tuple[date, BotVersionId] | None = None,
) -> Sequence[DayRating]:
    """At most `limit` ratings of the bot's versions, newest day and version first.

    Args:
        before: The day and version of the last line of the page before.

    Raises:
        UnknownLadderError: no ladder has the id.
        UnknownBotError: no bot has the id.
    """
    _ladder(connection, ladder_id)
    _check_bot(connection, bot_id)
    query = (
        select(
            RatingDay.day,
            RatingDay.version_id,
            BotVersion.label,
            RatingDay.elo,
            RatingDay.margin,
            RatingDay.games,
        )
        .join(BotVersion, BotVersion.id == RatingDay.version_id)
        .where(RatingDay.ladder_id == ladder_id, BotVersion.bot_id == bot_id)
    )
    if before is not None:
        query = query.where(tuple_(RatingDay.day, RatingDay.version_id) < before)
    query = query.order_by(RatingDay.day.desc(), RatingDay.version_id.desc()).limit(limit)
    return [DayRating(*row) for row in connection.execute(query)]


# -- head to head -----------------------------------------------------------------


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
        as_black=Score(
            as_black[Result.BLACK_WINS], as_black[Result.DRAW], as_black[Result.WHITE_WINS]
        ),
        as_white=Score(
            as_white[Result.WHITE_WINS], as_white[Result.DRAW], as_white[Result.BLACK_WINS]
        ),
    )


def _score(
    connection: Connection, ladder_id: LadderId, black: BotId, white: BotId
) -> Counter[Result]:
    """How often each result came about between two bots' versions with these colours."""
    versions_of = {
        bot: select(BotVersion.id).where(BotVersion.bot_id == bot) for bot in (black, white)
    }
    query = (
        select(Game.result, func.count())
        .where(
            *is_rated(ladder_id),
            Game.black_id.in_(versions_of[black]),
            Game.white_id.in_(versions_of[white]),
        )
        .group_by(Game.result)
    )
    return Counter(dict(connection.execute(query).all()))


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
    games = select(func.count()).where(*is_rated(Ladder.id)).scalar_subquery()
    return select(Ladder.id, Ladder.name, games, Ladder.revision <= Ladder.run_revision)


_RUN = tuple(getattr(RatingRun, field.name) for field in fields(Run))
_LINE = tuple(getattr(Rating, field.name) for field in fields(Line))


def _standings() -> Select[*tuple[Any, ...]]:
    return (
        select(Bot.id, Bot.name, BotVersion.id, BotVersion.label, *_LINE)
        .join(BotVersion, BotVersion.id == Rating.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
    )


def _standing(row: Row[*tuple[Any, ...]]) -> Standing:
    bot_id, bot, version_id, version, *line = row
    return Standing(bot_id, bot, version_id, version, Line(*line))
