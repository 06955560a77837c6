"""Openings: what was played in a position, and how it ended."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from meijin.game import Variant, encode_moves
from meijin.game.board.symmetry import CanonicalPosition, canonical_position
from meijin.ladder.statistics.elo import wilson_interval
from meijin.server.api.answers.games import stored_game
from meijin.store.games import games_by_id
from meijin.store.ladders.openings import DEPTH, counted_games, counted_variants, moves_in
from meijin.store.schema import GAME_ENDED, GameState, OpeningMove, StrengthBand
from meijin.v1 import game_pb2
from meijin.v1 import opening_service_pb2 as pb
from meijin.wire.mapping import to_message
from meijin.wire.values import variant_to_proto

SHOWN_GAMES = 10
"""Games of a position that are shown, at most."""

SHOWN_VARIANTS = 100


def explore(
    connection: Connection,
    variant: Variant,
    moves: Sequence[int],
    strength: StrengthBand | None = None,
) -> pb.ExploreResponse:
    """What was played after some moves, all on the board, in any order and any mirror image.

    Args:
        strength: Only games of this band.
    """
    position = canonical_position(moves, variant)
    rows = moves_in(connection, position.key)
    chosen = [row for row in rows if strength in {None, row.band}]
    variants = counted_variants(connection, limit=SHOWN_VARIANTS)
    return pb.ExploreResponse(
        results=results_of(chosen),
        ended=results_of(row for row in chosen if row.cell == GAME_ENDED),
        continuations=_continuations(position, chosen),
        strengths=_strengths(rows),
        games=_games(connection, chosen),
        counted_games=counted_games(connection),
        depth=DEPTH,
        variants=(to_message(each, pb.CountedVariant) for each in variants),
        variant=variant_to_proto(variant),
    )


def results_of(rows: Iterable[OpeningMove]) -> pb.OpeningResults:
    """How some games ended, with black's score where there are any; a draw is half a point."""
    results = pb.OpeningResults()
    for row in rows:
        results.black_wins += row.black_wins
        results.draws += row.draws
        results.white_wins += row.white_wins
    if games := games_of(results):
        points = results.black_wins + results.draws / 2
        results.black_score = points / games
        results.black_score_low, results.black_score_high = wilson_interval(points, games)
    return results


def games_of(results: pb.OpeningResults) -> int:
    return results.black_wins + results.draws + results.white_wins


def _continuations(
    position: CanonicalPosition, rows: Iterable[OpeningMove]
) -> list[pb.Continuation]:
    """The moves on the board that was asked about, that of the most games first."""
    by_cell: dict[int, list[OpeningMove]] = {}
    for row in rows:
        if row.cell != GAME_ENDED:
            by_cell.setdefault(row.cell, []).append(row)
    found = []
    for canonical_cell, mine in by_cell.items():
        cell, *same = position.cells_of(canonical_cell)
        last = max(row.game_id for row in mine)
        found.append(
            pb.Continuation(
                cell=cell,
                same_cells=encode_moves(same),
                results=results_of(mine),
                game_id=str(last),
            )
        )
    return sorted(found, key=lambda each: (-games_of(each.results), each.cell))


def _strengths(rows: Sequence[OpeningMove]) -> list[pb.StrengthResults]:
    """Of games of all bands that there are, the weakest first."""
    found = []
    for band in map(StrengthBand, sorted({row.band for row in rows})):
        results = results_of(row for row in rows if row.band == band)
        found.append(to_message(results, pb.StrengthResults, strength=band, results=results))
    return found


def _games(connection: Connection, rows: Iterable[OpeningMove]) -> list[game_pb2.Game]:
    """Some of the games, the newest first, without those that were voided since."""
    newest = sorted({row.game_id for row in rows}, reverse=True)[:SHOWN_GAMES]
    found = reversed(games_by_id(connection, newest))
    return [stored_game(row) for row in found if row.state is GameState.FINISHED]
