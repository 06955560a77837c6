"""What a ladder says of any two of its bots."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection

from meijin.ladder.knowledge import Knowledge, preview
from meijin.ladder.statistics.pair_counts import Integers
from meijin.server.ladder_convert import ladder_to_proto, score_to_proto, standing_to_proto
from meijin.store import ladders
from meijin.store.ladders import Score, Standing, Standings
from meijin.store.rated_games import pair_counts_between, results_since
from meijin.store.tables import BotId, BotVersionId, LadderId
from meijin.v1 import ladder_service_pb2 as pb

Scores = dict[tuple[BotVersionId, BotVersionId], Score]
"""What the first scored against the second, colours together."""


MAX_PREVIEW = 200
"""The most games of a preview; the next run is not far, then."""
MAX_PREVIEW_POOL = 400
"""The most versions in one: each game takes n^2 steps, all of them a tenth of a second."""


class NoRunError(LookupError):
    """The ladder has published nothing yet."""


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
    connection: Connection, ladder_id: LadderId, version_ids: Sequence[BotVersionId]
) -> Scores:
    scores: Scores = defaultdict(lambda: Score(0, 0, 0))
    for black, white, wins, draws, losses in pair_counts_between(
        connection, ladder_id, version_ids
    ):
        one, other = scores[black, white], scores[white, black]
        scores[black, white] = Score(one.wins + wins, one.draws + draws, one.losses + losses)
        scores[white, black] = Score(other.wins + losses, other.draws + draws, other.losses + wins)
    return scores


def compare_two(
    connection: Connection, ladder_id: LadderId, bot_id: BotId, other_id: BotId
) -> pb.GetHeadToHeadResponse:
    """What a bot scored against another, and what is to be expected of their newest versions."""
    score = ladders.head_to_head(connection, ladder_id, bot_id, other_id)
    response = pb.GetHeadToHeadResponse(
        as_black=score_to_proto(score.as_black), as_white=score_to_proto(score.as_white)
    )
    table, knowledge = _knowledge(connection, ladder_id)
    one, other = (_newest(table.standings, each) for each in (bot_id, other_id))
    if knowledge is not None and one is not None and other is not None:
        response.expectation.CopyFrom(_expectation(knowledge, one, other))
    return response


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
    knowledge = Knowledge.of(table, ladders.covariances(connection, ladder_id))
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
    table = ladders.standings(connection, ladder_id)
    if table.run is None:
        return table, None
    return table, Knowledge.of(table, ladders.covariances(connection, ladder_id))
