"""`meijin analyse`: positions of files, searched by a bot."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated, BinaryIO, TypeAlias

import typer
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from meijin.bots import BUILT_IN, load_bot
from meijin.bots.sdk.searcher import run_hook
from meijin.cli.bot.options import BotSettingsOption
from meijin.cli.command import option
from meijin.cli.errors import CommandError, UsageError, unusable_file
from meijin.cli.options import DEFAULT_VARIANT, VariantOption, parsed
from meijin.cli.output import PlainConsole, print_note
from meijin.cli.profile import Profile
from meijin.game import Board, TimeControl, Variant, cell_name
from meijin.game.records.analysis import cells_on_board
from meijin.game.records.record import format_position
from meijin.local.analyser import Analyser, Finding, RemoteAnalyser
from meijin.local.connection import connect
from meijin.local.position_files import FilePosition, read_positions

STANDARD_INPUT = "-"

MAX_NODES = 2**64 - 1
DEFAULT_TIME = "1/move"
PATIENT = "3600/move"
"""The clock of a search that ends by its nodes."""

Findings: TypeAlias = Iterator[tuple[FilePosition, Finding]]
Ask: TypeAlias = Callable[[Iterator[tuple[FilePosition, Board]]], Findings]
"""Has positions searched."""


def analyse(
    profile: Profile,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Position strings (h8i9...) or JSON objects, one a line, or games; - is standard "
            "input.",
        ),
    ],
    bot: Annotated[
        str,
        f"One of {', '.join(BUILT_IN)}, or a file: my_bot.py:MyBot; with --server the name "
        "of a bot there.",
    ] = "alphabeta",
    option: BotSettingsOption = None,
    nodes: Annotated[
        int | None, option("The most of each search: the bot's option nodes.", 1, MAX_NODES)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", "-t", help="What the clock shows; 1/move when nodes are left out."),
    ] = None,
    variant: VariantOption = DEFAULT_VARIANT,
    threads: Annotated[int, option("Searches side by side.", 1, 256)] = 1,
    strict: Annotated[bool, "End at the first line that is no position."] = False,
    server: Annotated[
        str,
        option(
            "A server's host and port, to be asked in place of this machine; grpcs://host:port "
            "with TLS.",
            show_default=False,
            flags=("--server", "-s"),
        ),
    ] = "",
) -> None:
    """Search positions with a bot, and write what it finds as JSON lines, in their order.

    Each line has the position, the bot's move and, where it says so, score, depth, nodes and
    principal variation. Of a game every position is searched in which a move was chosen.
    """
    board_variant = parsed(Variant.parse, variant)
    if not server:
        asking = _asking_here(bot, option or [], nodes, time, threads)
    else:
        for name, is_given in (("--option", bool(option)), ("--threads", threads != 1)):
            if is_given:
                raise UsageError(f"{name} is for bots of this machine; one on a server has its own")
        asking = _asking_there(profile, bot, nodes, time)
    reading = _Reading(source, strict=strict)
    try:
        with _opened(source) as file, asking as ask, _progress() as advance:
            positions = reading.positions(read_positions(file, source, board_variant))
            for asked, finding in ask(positions):
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
def _asking_here(
    spec: str, options: list[str], nodes: int | None, time: str | None, threads: int
) -> Iterator[Ask]:
    """Ask a bot that has got ready, until it is closed."""
    control = parsed(TimeControl.parse, time or (DEFAULT_TIME if nodes is None else PATIENT))
    bot = load_bot(spec, [*options, *([] if nodes is None else [f"nodes={nodes}"])])
    try:
        bot.prepare()
        yield Analyser(bot, control, threads=threads).findings
    finally:
        run_hook(bot.close)


@contextmanager
def _asking_there(profile: Profile, bot: str, nodes: int | None, time: str | None) -> Iterator[Ask]:
    """Ask a bot that is connected to a server."""
    limit = None if time is None else _time_of_a_move(time)
    with connect(profile.endpoint, profile.token) as connection:
        yield RemoteAnalyser(connection, bot, time=limit, nodes=nodes or 0).findings


def _time_of_a_move(text: str) -> timedelta:
    """The time of each search on a server."""
    control = parsed(TimeControl.parse, text)
    if control.initial is None and control.per_move is not None:
        return control.per_move
    raise CommandError(f'--time "{text}": on a server give a time for each move, such as 1/move')


class _Reading:
    """What is taken of a file, and what is left out."""

    def __init__(self, source: str, *, strict: bool) -> None:
        self._source = "standard input" if source == STANDARD_INPUT else source
        self._strict = strict
        self.skipped = 0

    def positions(self, found: Iterator[FilePosition]) -> Iterator[tuple[FilePosition, Board]]:
        """The positions that there are."""
        for each in found:
            if each.board is None:
                self.skip(each.place, each.error)
            else:
                yield each, each.board

    def skip(self, place: str, error: str) -> None:
        """Leave a position out, or end with it."""
        where = f":{place.removeprefix('line ')}" if place.startswith("line ") else f", {place}"
        text = f"{self._source}{where}: {error}"
        if self._strict:
            raise CommandError(text)
        self.skipped += 1
        print_note(text)


def _opened(source: str) -> BinaryIO:
    """The file; standard input has a buffer of its own, which the end of the process may find in use."""
    try:
        if source == STANDARD_INPUT:
            return open(sys.stdin.fileno(), "rb", closefd=False)
        return Path(source).open("rb")
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
    variant, found = asked.board.variant, finding.analysis
    fields: dict[str, object] = {
        "place": asked.place,
        "position": format_position(asked.board.moves, variant),
        "variant": str(variant),
        "best_move": None if finding.best is None else cell_name(finding.best, variant),
        **dict.fromkeys(("score", "depth", "nodes", "pv")),
        "seconds": round(finding.seconds, 6),
    }
    if found is not None:
        cells = cells_on_board(found.pv, variant)
        numbers = {name: getattr(found, name) for name in ("score", "depth", "nodes")}
        fields |= {name: int(told) for name, told in numbers.items() if told is not None}
        fields["pv"] = [cell_name(int(cell), variant) for cell in cells]
    if asked.label is not None:
        fields["id"] = asked.label
    return json.dumps(fields)
