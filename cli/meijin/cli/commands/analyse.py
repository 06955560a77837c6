"""`meijin analyse`: positions of files, searched by a bot."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from meijin.arena.analyser import Analyser, Finding
from meijin.arena.position_files import FilePosition, read_positions
from meijin.bots import BUILT_IN, Bot, load_bot
from meijin.bots.sdk.searcher import run_hook
from meijin.cli.bot_options import BotSettingsOption
from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.options import DEFAULT_VARIANT, VariantOption
from meijin.cli.output import PlainConsole, print_note
from meijin.game import Analysis, Board, TimeControl, Variant, cell_name
from meijin.game.analysis import cells_on_board
from meijin.game.position_string import format_position

STANDARD_INPUT = "-"
DEFAULT_TIME = "1/move"
PATIENT = "3600/move"
"""The clock of a search that ends by its nodes."""


def analyse(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Position strings (h8i9...) or JSON objects, one a line, or games; - is standard "
            "input.",
        ),
    ],
    bot: Annotated[
        str, typer.Option(help=f"One of {', '.join(BUILT_IN)}, or a file: my_bot.py:MyBot.")
    ] = "alphabeta",
    option: BotSettingsOption = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="The most of each search: the bot's option nodes.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", "-t", help="What the clock shows; 1/move when nodes are left out."),
    ] = None,
    variant: VariantOption = DEFAULT_VARIANT,
    threads: Annotated[int, typer.Option(min=1, max=256, help="Searches side by side.")] = 1,
    strict: Annotated[
        bool, typer.Option("--strict", help="End at the first line that is no position.")
    ] = False,
) -> None:
    """Search positions with a bot, and write what it finds as JSON lines, in their order.

    Each line has the position, the bot's move and, where it says so, score, depth, nodes and
    principal variation. Of a game every position is searched in which a move was chosen.
    """
    wanted = time or (DEFAULT_TIME if nodes is None else PATIENT)
    board_variant, control = _parsed(variant, wanted)
    options = [*(option or []), *([] if nodes is None else [f"nodes={nodes}"])]
    reading = _Reading(source, strict=strict)
    try:
        with _opened(source) as file, _ready(bot, options) as player, _progress() as advance:
            positions = reading.positions(read_positions(file, source, board_variant))
            for asked, finding in Analyser(player, control, threads=threads).findings(positions):
                if finding.error:
                    reading.skip(asked.place, finding.error)
                else:
                    typer.echo(_line(asked, finding))
                advance()
    except ValueError as error:
        raise CommandError(f"{source}: {error}") from None
    if reading.skipped:
        print_note(f"{source}: left out {reading.skipped} of what was asked")


@contextmanager
def _ready(spec: str, options: list[str]) -> Iterator[Bot]:
    """A bot that has got ready, until it is closed."""
    bot = load_bot(spec, options)
    try:
        bot.prepare()
        yield bot
    finally:
        run_hook(bot.close)


class _Reading:
    """What is taken of a file, and what is left out."""

    def __init__(self, source: str, *, strict: bool) -> None:
        self._source = "standard input" if source == STANDARD_INPUT else source
        self._strict = strict
        self.skipped = 0

    def positions(self, found: Iterator[FilePosition]) -> Iterator[tuple[FilePosition, Board]]:
        """The positions that there are.

        Raises:
            CommandError: one is none, and that is to be an error.
        """
        for each in found:
            if each.board is None:
                self.skip(each.place, each.error)
            else:
                yield each, each.board

    def skip(self, place: str, error: str) -> None:
        """Leave a position out, or end with it."""
        line = place.removeprefix("line ")
        text = (
            f"{self._source}:{line}: {error}"
            if line != place
            else f"{self._source}, {place}: {error}"
        )
        if self._strict:
            raise CommandError(text)
        self.skipped += 1
        print_note(text)


def _parsed(variant: str, time: str) -> tuple[Variant, TimeControl]:
    try:
        return Variant.parse(variant), TimeControl.parse(time)
    except ValueError as error:
        raise CommandError(str(error)) from None


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    """The file; standard input has a buffer of its own, which the end of the process may find in use."""
    try:
        if source == STANDARD_INPUT:
            with open(sys.stdin.fileno(), "rb", closefd=False) as file:
                yield file
        else:
            with Path(source).open("rb") as file:
                yield file
    except OSError as error:
        raise unusable_file(error) from None


@contextmanager
def _progress() -> Iterator[Callable[[], None]]:
    """Where somebody sees it, how many positions are done: to be called for each."""
    console = PlainConsole(stderr=True)
    is_unseen = not console.is_terminal or sys.stdout.isatty()  # lines would run into each other
    columns = (TextColumn("positions"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=is_unseen) as progress:
        task = progress.add_task("", total=None)
        yield lambda: progress.advance(task)


def _line(asked: FilePosition, finding: Finding) -> str:
    assert asked.board is not None
    variant = asked.board.variant
    found = finding.analysis
    fields: dict[str, object] = {
        "place": asked.place,
        "position": format_position(asked.board.moves, variant),
        "variant": str(variant),
        "best_move": None if finding.best is None else cell_name(finding.best, variant),
        "score": None if found is None else int(found.score),
        "depth": None if found is None else int(found.depth),
        "nodes": None if found is None else int(found.nodes),
        "pv": None if found is None else _pv(found, variant),
        "seconds": round(finding.seconds, 6),
    }
    if asked.label is not None:
        fields["id"] = asked.label
    return json.dumps(fields)


def _pv(found: Analysis, variant: Variant) -> list[str]:
    return [cell_name(int(cell), variant) for cell in cells_on_board(found.pv, variant)]
