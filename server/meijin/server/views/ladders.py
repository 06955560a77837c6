"""Ladders as they are shown: their tables, matrices, head-to-head scores and histories."""

import itertools
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from sqlalchemy import Connection

from meijin.game import decode_moves, format_opening
from meijin.ladder.posterior import (
    Expectation,
    MatrixRow,
    RatingPosterior,
    compare_all,
    expectation,
    newest_rated,
    preview,
    superiority_of,
    total,
)
from meijin.store.bots import get_bot, labels_of, newest_versions
from meijin.store.errors import NoRunError, RowNotFoundError
from meijin.store.ladders.games import (
    pair_counts_of,
    results_since,
)
from meijin.store.ladders.ladders import LadderSummary, get_ladder, ladder_row, same_variant
from meijin.store.ladders.results import (
    ColorScores,
    scores_by_opening,
    scores_without_faults,
)
from meijin.store.ladders.runs import (
    RatedVersion,
    Standing,
    Standings,
    covariances,
    rated_versions,
    standings,
)
from meijin.store.ladders.versions import PublishedLine, newest_rated_version, published_lines
from meijin.store.schema import (
    BotId,
    BotVersionId,
    LadderId,
    RatingRunId,
)

Line: TypeAlias = Standing | PublishedLine
"""Of a run, with what its rank depends on."""

TIE = 0.005
"""Elo between two ratings that are the same but for rounding."""
MAX_PREVIEW = 200
"""The most games of a preview; the next run is not far, then."""
MAX_PREVIEW_POOL = 400
"""The most versions in one: each game takes n^2 steps, all of them a tenth of a second."""


MAX_ELSEWHERE = 10
"""Other ladders of a variant that a score against another is looked up on."""
MAX_VERSIONS = 200
"""The newest of a bot that its score against another is of: each two of them are looked up."""


@dataclass(frozen=True, slots=True)
class MachineFilter:
    """Which versions are shown, by what is known of their machines; all where it says nothing."""

    hardware: str = ""
    """In what it runs on, in any case."""
    min_nodes: int = 0
    """The least nodes a second."""
    max_nodes: int = 0
    """The most; 0 for no limit."""
    is_hosted: bool | None = None
    """Hosts of the arena's run it, or others do."""

    def admits(self, row: Standing) -> bool:
        """Whether a version is shown: with a limit of nodes, one that told of them."""
        nodes = row.nodes_per_second
        return (
            self.hardware.casefold() in row.hardware.casefold()
            and nodes >= self.min_nodes
            and (not self.max_nodes or 0 < nodes <= self.max_nodes)
            and self.is_hosted in {None, row.is_hosted}
        )


EVERY_MACHINE = MachineFilter()


@dataclass(frozen=True, slots=True)
class Matrix:
    ladder: LadderSummary
    rows: tuple[MatrixRow, ...]
    """Best first."""


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """One version against another; from the first one's side."""

    version: RatedVersion
    opponent_version: RatedVersion
    scores: ColorScores
    """Of all rated games of the two."""
    without_faults: ColorScores
    """Of those that nobody forfeited."""
    openings: tuple[tuple[str, ColorScores], ...]
    """What they began with, such as ``h8i9``; the most played first."""
    expectation: Expectation | None
    """``None`` where the published run does not know both."""
    all_versions: ColorScores
    """The newest versions of both bots together."""
    elsewhere: tuple[tuple[str, ColorScores], ...]
    """On other ladders of the variant by name: of the versions that are the newest there."""


def ladder_table(
    connection: Connection,
    ladder: str,
    run_id: RatingRunId | None = None,
    *,
    paused: Container[BotVersionId] = (),
    all_versions: bool = False,
    machines: MachineFilter = EVERY_MACHINE,
) -> Standings:
    """The published table of a ladder with a preview of the next, or that of an earlier run.

    Args:
        paused: Those that get no new games for a while.
        all_versions: Of each bot; else the newest one and the anchors alone.
        machines: Which of those are shown; the ratings are those of the whole run.

    Raises:
        UnknownLadderError: no ladder has the name.
        RowNotFoundError: the ladder has no such run, or not any more.
    """
    table = standings(connection, get_ladder(connection, ladder), run_id)
    is_behind = run_id is None and table.run is not None and not table.ladder.is_current
    elos = _preview(connection, table) if is_behind else ()
    ranked = _ranked(connection, table, all_versions=all_versions, machines=machines)
    lines = [
        replace(row, preview_elo=elo, is_paused=run_id is None and row.version_id in paused)
        for row, elo in itertools.zip_longest(ranked, elos)
        if row.rank
    ]
    return replace(table, standings=lines)


def _ranked(
    connection: Connection,
    table: Standings,
    *,
    all_versions: bool,
    machines: MachineFilter = EVERY_MACHINE,
) -> list[Standing]:
    """A run's lines with ranks among those that are shown, and 0 for others.

    The chance to be stronger is that over the next that is shown: the run's own where the two
    are neighbours in it, and else by the covariances, where they are kept.
    """
    rows = table.standings
    places = [
        place for place in _shown(rows, all_versions=all_versions) if machines.admits(rows[place])
    ]
    chances = dict(zip(places, _chances(connection, table, places), strict=True))
    ranks = _ranks(rows, places)
    return [
        replace(row, rank=ranks.get(place, 0), superiority=chances.get(place))
        for place, row in enumerate(rows)
    ]


def rank_of(connection: Connection, ladder: str, bot_id: BotId) -> tuple[int, int]:
    """A bot's rank in the table of a ladder, 0 where it is not shown, and how many lines are."""
    lines = published_lines(connection, ladder)
    places = _shown(lines, all_versions=False)
    ranks = _ranks(lines, places)
    newest = max(
        (place for place in places if lines[place].bot_id == bot_id),
        key=lambda place: lines[place].version_id,
        default=None,
    )
    return (0 if newest is None else ranks[newest]), len(places)


def _ranks(rows: Sequence[Line], places: Sequence[int]) -> dict[int, int]:
    """The rank of each place; those whose ratings can't be told apart share the first of theirs."""
    ranks: dict[int, int] = {}
    for rank, place in enumerate(places, start=1):
        before = places[rank - 2] if rank > 1 else None
        is_tie = before is not None and abs(rows[before].elo - rows[place].elo) < TIE
        ranks[place] = ranks[before] if is_tie and before is not None else rank
    return ranks


def _shown(rows: Sequence[Line], *, all_versions: bool) -> list[int]:
    """The places of the lines that are shown: no hidden bots', and the newest versions' alone.

    Anchors are shown whatever has come after them: the ratings are relative to them.
    """
    newest: dict[BotId, BotVersionId] = {}
    for row in rows:
        newest[row.bot_id] = max(row.version_id, newest.get(row.bot_id, row.version_id))
    return [
        place
        for place, row in enumerate(rows)
        if not row.is_hidden
        and (all_versions or row.is_anchor or row.version_id == newest[row.bot_id])
    ]


def _chances(connection: Connection, table: Standings, places: Sequence[int]) -> list[float | None]:
    """Of those at some places of a table the chances to be stronger than the next of them."""
    chances = {
        one: table.standings[one].superiority for one, other in pairwise(places) if other == one + 1
    }
    apart = [(one, other) for one, other in pairwise(places) if other > one + 1]
    is_published = table.run is not None and table.run.id == table.ladder.run_id
    kept = covariances(connection, table.ladder.id) if apart and is_published else None
    if kept is not None:
        ones, others = np.array(apart).T
        found = superiority_of(table, kept, ones, others).tolist()
        chances |= zip((one for one, _ in apart), found, strict=True)
    return [chances.get(place) for place in places]


def _preview(connection: Connection, table: Standings) -> Sequence[float]:
    """Everyone's rating with the games since the published run, in the order of the table.

    Empty when there are none, or too many.
    """
    assert table.run is not None
    if len(table.standings) > MAX_PREVIEW_POOL:
        return ()
    ladder_id = table.ladder.id
    games = results_since(connection, ladder_id, table.run.cutoff, limit=MAX_PREVIEW + 1)
    if not games or len(games) > MAX_PREVIEW:
        return ()
    posterior = RatingPosterior.of(table, covariances(connection, ladder_id))
    after: list[float] = preview(posterior, games).tolist()
    return after


def matrix(
    connection: Connection,
    ladder: str,
    *,
    bots: Sequence[str],
    limit: int,
    all_versions: bool = False,
) -> Matrix:
    """Each two of the best `limit` versions of a ladder, of these bots or of all.

    Args:
        bots: Hidden ones among them are there too, without a rank.
        all_versions: Of each bot; else those that the table has.

    Raises:
        UnknownLadderError: no ladder has the name.
        RowNotFoundError: no bot has one of the names.
        NoRunError: the ladder has published nothing yet.
    """
    wanted = {get_bot(connection, name) for name in bots}
    table, posterior = _published(connection, get_ladder(connection, ladder))
    if posterior is None:
        raise NoRunError(f'ladder "{table.ladder.name}" has no run yet; play rated games')
    rows = _ranked(connection, table, all_versions=all_versions)
    wanted_rows = [replace(row, is_hidden=row.bot_id not in wanted) for row in rows]
    shown = _shown(wanted_rows if wanted else rows, all_versions=all_versions)
    places = shown[:limit]
    versions = [rows[place].version_id for place in places]
    counts = pair_counts_of(connection, table.ladder.id, versions, versions)
    return Matrix(table.ladder, compare_all(rows, places, posterior, counts))


def head_to_head(
    connection: Connection,
    ladder: str,
    bots: tuple[str, str],
    versions: tuple[BotVersionId | None, BotVersionId | None] = (None, None),
) -> HeadToHead:
    """What a version of a bot scored against one of another, and what is to be expected of them.

    Args:
        versions: Theirs; ``None`` for the newest that is rated.

    Raises:
        UnknownLadderError: no ladder has the name.
        RowNotFoundError: no bot has one of the names.
        RowNotFoundError: a version is none of its bot's, or the bot has none at all.
    """
    ladder_id = get_ladder(connection, ladder)
    bot_ids = [get_bot(connection, name) for name in bots]
    table, posterior = _published(connection, ladder_id)
    one, other = (
        _version(connection, table.standings, bot_id, name, wanted)
        for bot_id, name, wanted in zip(bot_ids, bots, versions, strict=True)
    )
    named = rated_versions(connection, (one, other))
    variant = ladder_row(connection, ladder_id).variant
    return HeadToHead(
        version=named[one],
        opponent_version=named[other],
        scores=_scores_of(connection, ladder_id, [one], [other]),
        without_faults=scores_without_faults(connection, ladder_id, one, other),
        openings=tuple(
            (format_opening(decode_moves(opening), variant), scores)
            for opening, scores in scores_by_opening(connection, ladder_id, one, other)
        ),
        expectation=None
        if posterior is None
        else expectation(table.standings, posterior, one, other),
        all_versions=_scores_of(
            connection,
            ladder_id,
            *(newest_versions(connection, each, MAX_VERSIONS) for each in bot_ids),
        ),
        elsewhere=tuple(_elsewhere(connection, ladder_id, bot_ids)),
    )


def _elsewhere(
    connection: Connection, ladder_id: LadderId, bot_ids: Sequence[BotId]
) -> Iterator[tuple[str, ColorScores]]:
    """What the newest rated versions of two bots scored on the variant's other ladders."""
    for other_id in same_variant(connection, ladder_id, MAX_ELSEWHERE):
        one, other = (newest_rated_version(connection, other_id, each) for each in bot_ids)
        if one is not None and other is not None:
            scores = _scores_of(connection, other_id, [one], [other])
            if scores.games:
                yield ladder_row(connection, other_id).name, scores


def _version(
    connection: Connection,
    rows: Sequence[Standing],
    bot_id: BotId,
    name: str,
    wanted: BotVersionId | None,
) -> BotVersionId:
    """The version that is asked for, or else the newest that is rated or was there."""
    if wanted is not None:
        if not labels_of(connection, bot_id, [wanted]):
            raise RowNotFoundError(f'"{name}" has no version {wanted}')
        return wanted
    rated = newest_rated(rows, bot_id)
    if rated is not None:
        return rated
    found = newest_versions(connection, bot_id, 1)
    if not found:
        raise RowNotFoundError(f'"{name}" has never been here; run it once')
    return found[0]


def _scores_of(
    connection: Connection,
    ladder_id: LadderId,
    mine: Sequence[BotVersionId],
    others: Sequence[BotVersionId],
) -> ColorScores:
    return ColorScores(
        total(pair_counts_of(connection, ladder_id, mine, others)),
        total(pair_counts_of(connection, ladder_id, others, mine)).reversed,
    )


def _published(
    connection: Connection, ladder_id: LadderId
) -> tuple[Standings, RatingPosterior | None]:
    """The published table, and what it says of any two; ``None`` before the first run."""
    table = standings(connection, ladder_id)
    if table.run is None:
        return table, None
    return table, RatingPosterior.of(table, covariances(connection, ladder_id))
