"""`meijin openings`: books of openings, read in any form and judged; and what was played."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from meijin.cli.command import Commands, Output, option
from meijin.cli.errors import CommandError
from meijin.cli.files import ForceOption, OutputOption, text_output
from meijin.cli.options import DEFAULT_VARIANT, VariantOption, openings_in, parsed
from meijin.cli.output import PlainConsole, console
from meijin.cli.server.database import ServerDatabase, server_database
from meijin.cli.tables import TableColumn, count_text, number, table, text
from meijin.game import (
    Color,
    Opening,
    Variant,
    cell_name,
    decode_moves,
    encode_moves,
    format_opening,
)
from meijin.game.openings.balanced import has_balanced_openings
from meijin.game.openings.drawn import drawn_openings
from meijin.game.openings.file import MAX_OPENING_PLIES
from meijin.game.records.record import parse_position
from meijin.local.connection import Connection
from meijin.v1 import opening_service_pb2 as pb
from meijin.wire.strength import Strength
from meijin.wire.values import outcome_from_proto, variant_to_proto

app = Commands()

USUAL_NODES = 20_000
"""The last look of `vet`, and of the lists that ship beyond their first openings."""


@app.command()
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
        Strength | None, "Only games of such players, by the mean of their ratings."
    ] = None,
) -> Output:
    """Show what was played in a position, over all finished games, and how it ended.

    The order of the same stones does not matter, and mirror images are the same position.
    """
    board = parsed(Variant.parse, variant)
    cells = parsed(lambda text: parse_position(text, board), " ".join(moves or ()))
    request = pb.ExploreRequest(
        variant=variant_to_proto(board),
        moves=encode_moves(cells),
        strength=pb.STRENGTH_BAND_UNSPECIFIED if strength is None else strength.to_proto(),
    )
    response = connection.ask(connection.openings.Explore, request)
    return Output(response, _lines(response, cells, board))


def _games(results: pb.OpeningResults) -> int:
    return results.black_wins + results.draws + results.white_wins


def _result_columns(total: int) -> tuple[TableColumn, ...]:
    """Of rows with results, which are black's; shares are of this many games."""
    return (
        number("games", lambda row: _games(row.results)),
        number("share", lambda row: f"{_games(row.results) / total:.1%}"),
        number("black", lambda row: f"{row.results.black_score:.1%}"),
        number(
            "95 % interval",
            lambda row: f"{row.results.black_score_low:.1%} to {row.results.black_score_high:.1%}",
        ),
        number("won", "results.black_wins"),
        number("drawn", "results.draws"),
        number("lost", "results.white_wins"),
    )


def _lines(
    response: pb.ExploreResponse, cells: Sequence[int], variant: Variant
) -> Iterator[RenderableType]:
    games = _games(response.results)
    ended = pb.Continuation(results=response.ended)

    def move(row: pb.Continuation) -> str:
        return "(game over)" if row is ended else cell_name(row.cell, variant)

    columns = (
        text("move", move),
        text("the same", lambda row: format_opening(decode_moves(row.same_cells), variant)),
        *_result_columns(games),
    )
    after = format_opening(cells, variant) or "the empty board"
    title = f"{variant}, {after}: {count_text(games)} of {response.counted_games} counted"
    rows = chain(response.continuations, [ended] if _games(response.ended) else [])
    yield table(title, columns, rows)
    if response.strengths:
        total = sum(_games(each.results) for each in response.strengths)
        rated = text("rated", lambda row: Strength.from_proto(row.strength).value)
        title = "By the mean rating of the two when the game was counted"
        yield table(title, (rated, *_result_columns(total)), response.strengths)
    for game in response.games:
        names = f"{game.black} - {game.white}"
        yield f"game {game.game_id}: {names}: {outcome_from_proto(game.outcome)}"


@app.command()
def recount(server: ServerDatabase) -> None:
    """Have the worker count all openings anew, by the ratings that are published now.

    Changes the database itself, beside a running server or without one. No game is touched.
    """
    with server_database(server) as url:
        from meijin.store.ladders.openings import forget_in  # noqa: PLC0415 - not in the bare install

        games = forget_in(url)
    console.print(f"{count_text(games)} will be counted anew, by the ratings of now")


FILE_HELP = (
    'A file with an opening a line: "h8 i9", "h8i9", or offsets from the centre, '
    '"0,0, 1,-1"; or games in SGF or RIF.'
)
FileArgument = Annotated[Path, typer.Argument(help=FILE_HELP, metavar="FILE")]
PliesOption = Annotated[
    int | None, option("Moves to take of a game in SGF or RIF.", 1, MAX_OPENING_PLIES)
]


@app.command("list")
def list_(
    file: FileArgument,
    variant: VariantOption = DEFAULT_VARIANT,
    plies: PliesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Write the openings of a file in one form, a line each, for --openings to read."""
    board = parsed(Variant.parse, variant)
    openings = openings_in(file, board, plies)
    with text_output(output, force=force) as write:
        for opening in openings:
            write(format_opening(opening, board) + "\n")


@app.command()
def vet(
    file: Annotated[Path | None, typer.Argument(help=FILE_HELP, metavar="[FILE]")] = None,
    variant: VariantOption = DEFAULT_VARIANT,
    plies: PliesOption = None,
    draw: Annotated[
        int | None, option("Without a FILE: keep this many of random stones near the centre.", 1)
    ] = None,
    seed: Annotated[int, option("Of the stones that are drawn.", 0)] = 1,
    nodes: Annotated[int, option("Positions of the last look at an opening.", 1)] = USUAL_NODES,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Judge openings by a search: keep what favours neither side, and tell what was thrown out.

    The search counts positions, not time, so the verdicts are the same everywhere. An opening
    goes where the side ahead would score more than 62% by it.
    """
    board = parsed(Variant.parse, variant)
    openings = _to_vet(file, board, plies, draw, seed)
    notes = PlainConsole(stderr=True)
    kept = seen = 0
    with text_output(output, force=force) as write:
        for opening in openings:
            seen += 1
            score = _imbalance(opening, board, nodes)
            line = format_opening(opening, board)
            if score is None:
                kept += 1
                write(f"{line}\n")
            elif draw is None:
                to_move = (Color.BLACK, Color.WHITE)[len(opening) % 2]
                ahead = (to_move if score > 0 else to_move.other).name.lower()
                said = f"thrown out: {line}: {ahead} is ahead by {abs(score)}"
                notes.print(said, soft_wrap=True)
            if kept == draw:
                break
    notes.print(f"{kept} of {seen} openings kept")
    if output is not None:
        console.print(f"written to {output}", soft_wrap=True)


def _to_vet(
    file: Path | None, variant: Variant, plies: int | None, draw: int | None, seed: int
) -> Iterable[Opening]:
    if (file is None) == (draw is None):
        raise CommandError("give a FILE of openings, or --draw so many; one of the two")
    if file is not None:
        return openings_in(file, variant, plies)
    if not has_balanced_openings(variant):
        raise CommandError(f"no openings are drawn for {variant}; five in a row from 9x9 on")
    return drawn_openings(variant, seed)


def _imbalance(opening: Opening, variant: Variant, nodes: int) -> int | None:
    try:
        from meijin.bots.core.engine import imbalance  # noqa: PLC0415 - needs numba
    except ModuleNotFoundError as error:
        raise CommandError(
            f"{error.name} is not installed; run: pip install 'meijin[bots]'"
        ) from None
    try:
        return imbalance(opening, variant, nodes)
    except ValueError as error:  # the search plays fewer variants than there are
        raise CommandError(str(error)) from None
