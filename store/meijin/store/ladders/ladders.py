"""Ladders: found, listed, anchored, and marked when they have changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    update,
)

from meijin.game import TimeClasses, Variant
from meijin.store.bots import get_bot, version_ids
from meijin.store.errors import TimeClassError, UnknownLadderError, did_you_mean
from meijin.store.rows import add_rows, change_row, columns_of, read_row, read_rows
from meijin.store.schema import (
    Anchor,
    BotVersionId,
    DayTally,
    Game,
    GameState,
    Ladder,
    LadderId,
    RatingRun,
    RatingRunId,
    TournamentId,
)

MAX_ANCHORS = 3
MOST_COUNTED = 10_000
"""Of the games that have ended since the log, wherever a ladder is listed: that takes 5 ms."""

_ENDED_SINCE = (Game.ladder_id == Ladder.id, Game.end_sequence > Ladder.sequenced)
_FINISHED_SINCE = (*_ENDED_SINCE, Game.state == GameState.FINISHED)
_IS_DIRTY = or_(
    Ladder.revision > Ladder.run_revision, exists().where(*_ENDED_SINCE).correlate(Ladder)
)
"""Its job has something to do: void games, too, are taken into the log."""
_ENDED_LATELY = (
    select(Game.id).where(*_FINISHED_SINCE).limit(MOST_COUNTED).correlate(Ladder).subquery()
)
_WAITING = select(func.count()).select_from(_ENDED_LATELY).scalar_subquery()
_IS_BEHIND = exists().where(*_FINISHED_SINCE).correlate(Ladder)
"""Games have finished that are not in the ladder's log."""
_HAS_CHANGED = or_(Ladder.revision > Ladder.run_revision, _IS_BEHIND)
"""Since the published run."""
_HAS_GAMES = or_(Ladder.games > 0, _IS_BEHIND)


@dataclass(frozen=True, slots=True)
class LadderSummary:
    """A ladder in a list."""

    id: LadderId
    name: str
    games: int
    """Rated games in its log, and up to `MOST_COUNTED` that have ended since."""
    is_current: bool
    """Every rated game is in the published standings."""
    run_id: RatingRunId | None
    """The published run; ``None`` before the first."""
    run_create_time: datetime | None = None
    """When it was computed."""
    run_games: int = 0
    """Those that went into it."""


def list_ladders(
    connection: Connection, *, limit: int = 1000, after: str = ""
) -> Sequence[LadderSummary]:
    """At most `limit` ladders in the order of their names, from the one after `after`."""
    query = _summaries().where(Ladder.name > after).order_by(Ladder.name).limit(limit)
    return read_rows(LadderSummary, connection.execute(query))


def summary(connection: Connection, ladder_id: LadderId) -> LadderSummary:
    """A ladder as it is listed.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    row = read_row(LadderSummary, connection.execute(_summaries().where(Ladder.id == ladder_id)))
    if row is None:
        raise UnknownLadderError(f"no ladder has the id {ladder_id}")
    return row


def get_ladder(connection: Connection, name: str) -> LadderId:
    """The ladder of that name; by a variant alone or no name at all, the only one with games.

    Raises:
        UnknownLadderError: there is no such ladder, or there are several.
    """
    exact = connection.scalar(select(Ladder.id).where(Ladder.name == name))
    if exact is not None:
        return exact
    variant = _variant(name)
    meant = () if variant is None else (Ladder.variant == variant,)
    if not name or variant is not None:
        query = select(Ladder.id).where(*meant)
        for found in (query, query.where(_HAS_GAMES)):
            ladders = connection.scalars(found.limit(2)).all()
            if len(ladders) == 1:
                return ladders[0]
    raise UnknownLadderError(_problem(connection, name, meant))


def _variant(name: str) -> Variant | None:
    """The variant that a name has without a class, written like a ladder or like a variant."""
    try:
        return Variant.parse(name.replace("-", " "))
    except ValueError:
        return None


def _problem(connection: Connection, name: str, meant: Sequence[ColumnElement[bool]]) -> str:
    """What to say of a name that is not that of one ladder."""
    query = select(Ladder.name).order_by(Ladder.name).limit(20)
    if meant and (names := ", ".join(connection.scalars(query.where(*meant)))):
        return f'"{name}" has a ladder for each class of time control; name one of: {names}'
    if name and (hint := did_you_mean(connection, Ladder.name, name)):
        return f'no ladder "{name}"; {hint}'
    names = ", ".join(connection.scalars(query))
    if not names:
        return "there is no ladder yet; the first rated tournament makes one"
    problem = f'no ladder "{name}"' if name else "name a ladder"
    return f"{problem}; there are: {names}"


def same_variant(connection: Connection, ladder_id: LadderId, limit: int) -> Sequence[LadderId]:
    """The other ladders of a ladder's variant that have games, in the order of their names."""
    variant = select(Ladder.variant).where(Ladder.id == ladder_id).scalar_subquery()
    query = select(Ladder.id).where(Ladder.variant == variant, Ladder.id != ladder_id, _HAS_GAMES)
    return connection.scalars(query.order_by(Ladder.name).limit(limit)).all()


def check_time_classes(connection: Connection, classes: TimeClasses) -> None:
    """See that ladders of a class have the bounds that it has: games would be mixed else.

    Raises:
        TimeClassError: a class has other bounds than ladders that are there.
    """
    named = {each.name: each for each in classes.classes}
    query = select(Ladder.name, Ladder.time_class)
    for name, kept in connection.execute(query.order_by(Ladder.name)):
        given = kept and named.get(kept.name, kept)
        if given != kept:
            raise TimeClassError(
                f'the class "{given}" has the name of "{kept}", of which ladder "{name}" is; '
                "give a class with other bounds another name"
            )


def _summaries() -> Select[*tuple[Any, ...]]:
    columns = columns_of(
        LadderSummary,
        Ladder,
        games=Ladder.games + _WAITING,
        is_current=not_(_HAS_CHANGED),
        run_create_time=RatingRun.create_time,
        run_games=func.coalesce(RatingRun.games, 0),
    )
    return select(*columns).select_from(Ladder).outerjoin(RatingRun, RatingRun.id == Ladder.run_id)


@dataclass(frozen=True, slots=True)
class LadderBacklog:
    """How far the ladders are behind their games."""

    outdated: int
    """Ladders that have changed since their published runs."""
    changes: int
    """The most changes of one of them since; ended games that are not in its log up to
    `MOST_COUNTED`."""
    oldest: datetime | None
    """The oldest published run of them; ``None`` where none is published."""


def backlog(connection: Connection) -> LadderBacklog:
    """How far the ladders are behind their games: one look at the list of ladders."""
    behind = Ladder.revision - Ladder.run_revision + _WAITING
    query = (
        select(func.count(), func.max(behind), func.min(RatingRun.create_time))
        .select_from(Ladder)
        .join(RatingRun, RatingRun.id == Ladder.run_id, isouter=True)
        .where(_HAS_CHANGED)
    )
    outdated, changes, oldest = connection.execute(query).one()
    return LadderBacklog(outdated, changes or 0, oldest)


def ladder_row(connection: Connection, ladder_id: LadderId) -> Ladder:
    """A ladder without its games; it has to exist."""
    query = select(Ladder).where(Ladder.id == ladder_id)
    return Ladder(**connection.execute(query).mappings().one())


def is_dirty(connection: Connection, ladder_id: LadderId) -> bool:
    """Whether the ladder has changed since the published run, or games are not in its log.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    found = connection.scalar(select(_IS_DIRTY).where(Ladder.id == ladder_id))
    if found is None:
        raise UnknownLadderError(f"no ladder has the id {ladder_id}")
    return found


def dirty_ladders(connection: Connection) -> list[LadderId]:
    """The ladders whose job has something to do, as `is_dirty`."""
    query = select(Ladder.id).where(_IS_DIRTY).order_by(Ladder.id)
    return list(connection.scalars(query))


def published_ladders(connection: Connection) -> Sequence[LadderId]:
    """The ladders that have a run."""
    return connection.scalars(select(Ladder.id).where(Ladder.run_id.is_not(None))).all()


def mark_outdated(connection: Connection, algorithm: str) -> None:
    """Make dirty the ladders whose published run is of another algorithm; forget their tallies."""
    outdated = select(RatingRun.id).where(RatingRun.algorithm != algorithm)
    mine = Ladder.run_id.in_(outdated)
    ladder_ids = connection.scalars(select(Ladder.id).where(mine)).all()
    clean = update(Ladder).where(mine, Ladder.revision <= Ladder.run_revision)
    connection.execute(clean.values(revision=Ladder.run_revision + 1))
    connection.execute(delete(DayTally).where(DayTally.ladder_id.in_(ladder_ids)))


def anchors(connection: Connection, ladder_id: LadderId) -> Sequence[BotVersionId]:
    """The versions that the ladder's ratings are relative to, sorted."""
    query = select(Anchor.version_id).where(Anchor.ladder_id == ladder_id)
    return connection.scalars(query.order_by(Anchor.version_id)).all()


def anchor_versions(connection: Connection, names: Sequence[str]) -> list[BotVersionId]:
    """The newest versions of some bots, to be a ladder's anchors, sorted.

    Raises:
        RowNotFoundError: no bot has one of the names.
        ValueError: they are too many, or one has never been connected.
    """
    if len(names) > MAX_ANCHORS:
        raise ValueError(f"{len(names)} anchors; at most {MAX_ANCHORS}")
    versions = set()
    for name in names:
        found = version_ids(connection, get_bot(connection, name))
        if not found:
            raise ValueError(f'"{name}" has never been here; run it once')
        versions.add(found[-1])
    return sorted(versions)


def set_anchors(
    connection: Connection, ladder_id: LadderId, version_ids: Iterable[BotVersionId]
) -> None:
    """Make the ladder's ratings relative to some versions; without any, to their mean."""
    connection.execute(delete(Anchor).where(Anchor.ladder_id == ladder_id))
    add_rows(connection, (Anchor(ladder_id=ladder_id, version_id=key) for key in version_ids))
    change_row(connection, Ladder, ladder_id, revision=Ladder.revision + 1)


def settle(connection: Connection, tournament_id: TournamentId, ladder_id: LadderId) -> None:
    """A tournament has settled the ladder: the next run, which has all of its games, is final."""
    finished = (Game.ladder_id == ladder_id, Game.state == GameState.FINISHED)
    last_end = select(func.max(Game.end_sequence)).where(*finished)
    values = {
        "settled_by": tournament_id,
        "settled_revision": Ladder.revision + 1,
        "settled_sequence": connection.scalar(last_end) or 0,
        "revision": Ladder.revision + 1,
    }
    change_row(connection, Ladder, ladder_id, **values)
