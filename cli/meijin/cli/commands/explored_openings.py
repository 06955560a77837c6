"""`meijin openings explore`: what was played in a position, and how it ended."""

from collections.abc import Sequence
from typing import Annotated

import typer

from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.errors import CommandError
from meijin.cli.options import DEFAULT_VARIANT, VariantOption
from meijin.cli.output import console, count_text, print_json, table
from meijin.game import Variant, cell_name, decode_moves, encode_moves, format_opening
from meijin.game.records.position_string import parse_position
from meijin.v1 import opening_service_pb2 as pb
from meijin.wire import outcome_from_proto, variant_to_proto
from meijin.wire.strength import Strength


@with_server
def explore(
    connection: Connection,
    moves: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MOVES]", help='The moves so far, such as "h8 i9" or h8i9; none at the start.'
        ),
    ] = None,
    variant: VariantOption = DEFAULT_VARIANT,
    strength: Annotated[
        Strength | None,
        typer.Option(help="Only games of such players, by the mean of their ratings."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was played in a position, over all finished games, and how it ended.

    The order of the same stones does not matter, and mirror images are the same position.
    """
    board, cells = _position(variant, " ".join(moves or ()))
    request = pb.ExploreRequest(
        variant=variant_to_proto(board),
        moves=encode_moves(cells),
        strength=pb.STRENGTH_BAND_UNSPECIFIED if strength is None else strength.to_proto(),
    )
    response = connection.ask(connection.openings.Explore, request)
    if as_json:
        print_json(response)
    else:
        _print(response, cells, board)


def _position(variant: str, moves: str) -> tuple[Variant, Sequence[int]]:
    try:
        board = Variant.parse(variant)
        return board, parse_position(moves, board)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _print(response: pb.ExploreResponse, cells: Sequence[int], variant: Variant) -> None:
    games = _games(response.results)
    after = format_opening(cells, variant) or "the empty board"
    title = f"{variant}, {after}: {count_text(games)} of {response.counted_games} counted"
    columns = (
        "move",
        "the same",
        "games",
        "share",
        "black",
        "95 % interval",
        "won",
        "drawn",
        "lost",
    )
    made = table(title, columns, text_columns=2)
    for each in response.continuations:
        same = format_opening(decode_moves(each.same_cells), variant)
        share = f"{_games(each.results) / games:.1%}"
        made.add_row(cell_name(each.cell, variant), same, *_numbers(each.results, share))
    if _games(response.ended):
        share = f"{_games(response.ended) / games:.1%}"
        made.add_row("(game over)", "", *_numbers(response.ended, share))
    console.print(made)
    if response.strengths:
        _print_strengths(response)
    for game in response.games:
        names = f"{game.black} - {game.white}"
        console.print(f"game {game.game_id}: {names}: {outcome_from_proto(game.outcome)}")


def _print_strengths(response: pb.ExploreResponse) -> None:
    games = sum(_games(each.results) for each in response.strengths)
    columns = ("rated", "games", "share", "black", "95 % interval", "won", "drawn", "lost")
    made = table("By the mean rating of the two when the game was counted", columns)
    for each in response.strengths:
        band = Strength.from_proto(each.strength)
        made.add_row(band.value, *_numbers(each.results, f"{_games(each.results) / games:.1%}"))
    console.print(made)


def _numbers(results: pb.OpeningResults, share: str) -> tuple[str, ...]:
    """Cells of a row: results are black's."""
    interval = f"{results.black_score_low:.1%} to {results.black_score_high:.1%}"
    counts = (results.black_wins, results.draws, results.white_wins)
    return (str(_games(results)), share, f"{results.black_score:.1%}", interval, *map(str, counts))


def _games(results: pb.OpeningResults) -> int:
    return results.black_wins + results.draws + results.white_wins
