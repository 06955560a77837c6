"""What a ladder says of any two of its bots."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection

from meijin.ladder.knowledge import Knowledge, preview
from meijin.ladder.statistics.pair_counts import Integers
from meijin.server.api.convert_ladders import ladder_to_proto, score_to_proto, standing_to_proto
from meijin.store.bots import version_ids
from meijin.store.errors import NoRunError
from meijin.store.ladders.rated_games import pair_counts_between, results_since
from meijin.store.ladders.runs import Score, Standing, Standings, covariances, standings
from meijin.store.schema import BotId, BotVersionId, LadderId
from meijin.v1 import ladder_service_pb2 as pb

Scores = dict[tuple[BotVersionId, BotVersionId], Score]
"""What the first scored against the second, colours together."""

NO_GAMES = Score(0, 0, 0)

MAX_PREVIEW = 200
"""The most games of a preview; the next run is not far, then."""
MAX_PREVIEW_POOL = 400
"""The most versions in one: each game takes n^2 steps, all of them a tenth of a second."""


def compare_all(
    connection: Connection, ladder_id: LadderId, *, bots: Sequence[BotId], limit: int
) -> pb.GetMatrixResponse:
    """Each two of the best `limit` versions, of these bots or of all.

    Raises:
        NoRunError: see there.
    """
    table, knowledge = _knowledge(connection, ladder_id)
    if knowledge is None:
        raise NoRunError(f'ladder "{table.ladder.name}" has no run yet; play rated games')
    chosen = [place for place, row in enumerate(table.standings) if not bots or row.bot_id in bots][
        :limit
    ]
    rows = [table.standings[place] for place in chosen]
    scores = _scores(connection, ladder_id, [row.version_id for row in rows])
    places = np.array(chosen, dtype=np.int64)
    return pb.GetMatrixResponse(
        ladder=ladder_to_proto(table.ladder),
        rows=[
            pb.MatrixRow(
                standing=standing_to_proto(row),
                cells=_cells(place, places, rows, knowledge, scores),
            )
            for place, row in enumerate(rows)
        ],
    )


def _cells(
    own: int, places: Integers, rows: Sequence[Standing], knowledge: Knowledge, scores: Scores
) -> list[pb.MatrixCell]:
    """One row's; `own` is its index among the rows, `places` are theirs in the standings."""
    same = np.full(len(places), places[own])
    chances = knowledge.superiority(same, places)
    expected = knowledge.outcomes.score_with_both(knowledge.elo[same] - knowledge.elo[places])
    return [
        pb.MatrixCell(
            superiority=chance,
            expected_score=points,
            score=score_to_proto(scores[rows[own].version_id, other.version_id]),
        )
        for chance, points, other in zip(chances, expected, rows, strict=True)
    ]


def _scores(
    connection: Connection, ladder_id: LadderId, versions: Sequence[BotVersionId]
) -> Scores:
    scores: Scores = defaultdict(lambda: NO_GAMES)
    for black, white, *counts in pair_counts_between(connection, ladder_id, versions):
        score = Score(*counts)
        scores[black, white] += score
        scores[white, black] += score.reversed
    return scores


def compare_two(
    connection: Connection, ladder_id: LadderId, bot_id: BotId, other_id: BotId
) -> pb.GetHeadToHeadResponse:
    """What a bot scored against another, and what is to be expected of their newest versions."""
    as_black, as_white = _by_color(connection, ladder_id, bot_id, other_id)
    response = pb.GetHeadToHeadResponse(
        as_black=score_to_proto(as_black), as_white=score_to_proto(as_white)
    )
    table, knowledge = _knowledge(connection, ladder_id)
    one, other = (_newest(table.standings, each) for each in (bot_id, other_id))
    if knowledge is not None and one is not None and other is not None:
        response.expectation.CopyFrom(_expectation(knowledge, one, other))
    return response


def _by_color(
    connection: Connection, ladder_id: LadderId, bot_id: BotId, other_id: BotId
) -> tuple[Score, Score]:
    """What all versions of a bot scored against all of another, with black and with white."""
    mine, others = set(version_ids(connection, bot_id)), set(version_ids(connection, other_id))
    as_black = as_white = NO_GAMES
    for black, white, *counts in pair_counts_between(connection, ladder_id, [*mine, *others]):
        if black in mine and white in others:
            as_black += Score(*counts)
        elif black in others and white in mine:
            as_white += Score(*counts).reversed
    return as_black, as_white


def preview_of(connection: Connection, table: Standings) -> Sequence[float]:
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
    knowledge = Knowledge.of(table, covariances(connection, ladder_id))
    after: list[float] = preview(knowledge, games).tolist()
    return after


def _newest(rows: Sequence[Standing], bot_id: BotId) -> int | None:
    """The place of the bot's newest version."""
    mine = {row.version_id: place for place, row in enumerate(rows) if row.bot_id == bot_id}
    return mine[max(mine)] if mine else None


def _expectation(knowledge: Knowledge, one: int, other: int) -> pb.Expectation:
    difference, margin = knowledge.difference(one, other)
    return pb.Expectation(
        difference=difference,
        margin=margin,
        superiority=float(knowledge.superiority(np.array([one]), np.array([other]))[0]),
        score_as_black=float(knowledge.outcomes.score(difference)),
        score_as_white=1 - float(knowledge.outcomes.score(-difference)),
    )


def _knowledge(connection: Connection, ladder_id: LadderId) -> tuple[Standings, Knowledge | None]:
    """The published table, and what it says of any two; ``None`` before the first run."""
    table = standings(connection, ladder_id)
    if table.run is None:
        return table, None
    return table, Knowledge.of(table, covariances(connection, ladder_id))
