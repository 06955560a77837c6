"""What commands print: tables for people, JSON for scripts."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import typer
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from rich.console import Console, ConsoleDimensions
from rich.table import Table
from rich.text import Text

from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import outcome_from_proto

SHORT_NAMES = {"Sonneborn-Berger": "SB"}
"""Of tie-breaks, where a table has a column a bot."""


def printable(text: str) -> str:
    """Text in one line without control characters, which could rewrite the screen.

    White space becomes a blank, and what else can't be printed a replacement character.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else " " if each.isspace() else "\N{REPLACEMENT CHARACTER}"
        for each in text
    )


PIPE_WIDTH = 1 << 14
"""Columns of what is no screen: tables are as wide as they need."""


class PlainConsole(Console):
    """A console that shows text as it was written, be it by others: no markup, printable alone.

    Each string is one line or one cell, so several lines are several strings. Where it is no
    screen nothing is folded, and no column is left out.
    """

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet, markup=False, emoji=False, highlight=False)

    @property
    def size(self) -> ConsoleDimensions:
        """Of the screen; else as wide as anything."""
        found = super().size
        return found if self.is_terminal else ConsoleDimensions(PIPE_WIDTH, found.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - rich's own
        """Turn a string that is to be printed, or that stands in a table, into a text."""
        return super().render_str(printable(text), **options)


console = PlainConsole()
"""Where results go; progress and errors go to standard error."""


def print_note(line: str) -> None:
    """Print on standard error what happens meanwhile, in one line."""
    typer.echo(printable(line), err=True)


def print_file(text: str) -> None:
    """Print what is to be kept in a file: as it is, but on a screen what is printable."""
    if sys.stdout.isatty():
        text = "\n".join(map(printable, text.split("\n")))
    typer.echo(text, nl=False, color=True)  # else control characters are left out of pipes


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file to be written, which takes its place when all of it is there and not before."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def message_fields(message: Message) -> dict[str, object]:
    """What a message says, by the names of its fields."""
    return MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def print_json(value: Message | Mapping[str, object]) -> None:
    """Print one JSON object; a message keeps the names of its fields.

    What can't be printed is escaped, which JSON reads as the same.
    """
    if isinstance(value, Message):
        value = message_fields(value)
    text = json.dumps(value, ensure_ascii=False)
    typer.echo("".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text))


def table(title: str, columns: Iterable[str], *, text_columns: int = 1) -> Table:
    """An empty table: the first columns hold text, the others numbers."""
    made = Table(title=title, title_justify="default", title_style="bold", box=None, pad_edge=False)
    for place, column in enumerate(columns):
        made.add_column(column, justify="left" if place < text_columns else "right")
    return made


def count_text(games: int) -> str:
    """So many games."""
    return "1 game" if games == 1 else f"{games} games"


def score_text(wins: int, draws: int, games: int) -> str:
    """The share of the points that could be had, such as ``75.0%``."""
    return f"{(wins + draws / 2) / games:.1%}" if games else "-"


def rate_text(per_second: int) -> str:
    """Three digits of a rate, such as ``1.23M``; nothing for 0."""
    for place, unit in enumerate("EPTGMk"):
        size = 1000 ** (6 - place)
        if per_second >= size:
            return f"{per_second / size:#.3g}".rstrip(".") + unit
    return str(per_second or "")


def planned_text(tournament: pb.Tournament) -> str:
    """How many games a tournament has, if that is known."""
    if not tournament.planned_games:
        return "games without a bound"
    most = "at most " if tournament.may_end_early else ""
    return f"{most}{tournament.planned_games} games"


def games_text(tournament: pb.Tournament) -> str:
    """How many games of a tournament have a result, and of how many, if that is known."""
    if not tournament.planned_games:
        return f"{tournament.finished_games} games"
    return f"{tournament.finished_games} of {planned_text(tournament)}"


def tournament_name(tournament: pb.Tournament) -> str:
    """What it is called, or its number."""
    return tournament.settings.name or f"Tournament {tournament.tournament_id}"


def standings_table(response: pb.GetTournamentResponse) -> Table:
    """How the bots stand, with what orders those with the same points."""
    faults = {count.bot: count.faults for count in response.faults}
    ties = [each.name for each in response.standings[0].tie_breaks]
    columns = ("#", "bot", "points", *ties, "games", "won", "drawn", "lost", "faults", "")
    made = table(tournament_name(response.tournament), columns, text_columns=2)
    made.columns[-1].justify = "left"
    for standing in response.standings:
        games = (standing.games, standing.wins, standing.draws, standing.losses)
        made.add_row(
            str(standing.rank),
            standing.bot,
            f"{standing.points:g}",
            *(f"{each.value:g}" for each in standing.tie_breaks),
            *map(str, games),
            str(faults.get(standing.bot, 0)),
            standing.note,
        )
    return made


def crosstable(response: pb.GetTournamentResponse) -> Table:
    """Who scored how many points against whom: a row and a column a bot, best first."""
    cells = {(cell.bot, cell.opponent): cell for cell in response.crosstable}
    faults = {count.bot: count.faults for count in response.faults}
    scores = _scores(response)
    order = [standing.bot for standing in response.standings] or sorted(
        scores, key=lambda bot: -(scores[bot].wins + scores[bot].draws / 2)
    )
    ties = {standing.bot: standing.tie_breaks for standing in response.standings}
    names = [tie.name for tie in ties.get(order[0], ())]
    numbers = [str(number) for number, _ in enumerate(order, start=1)]
    made = table(
        tournament_name(response.tournament),
        (
            "#",
            "bot",
            *numbers,
            "points",
            *(SHORT_NAMES.get(name, name) for name in names),
            "W-D-L",
            "faults",
        ),
        text_columns=2,
    )
    for number, bot in zip(numbers, order, strict=True):
        score = scores[bot]
        made.add_row(
            number,
            bot,
            *(_points(cells.get((bot, other))) for other in order),
            f"{score.wins + score.draws / 2:g}",
            *(f"{tie.value:g}" for tie in ties.get(bot, ())),
            f"{score.wins}-{score.draws}-{score.losses}",
            str(faults.get(bot, 0)),
        )
    return made


def _scores(response: pb.GetTournamentResponse) -> dict[str, pb.CrosstableCell]:
    """What each bot has scored against all others."""
    scores = {bot: pb.CrosstableCell(bot=bot) for bot in response.tournament.settings.bots}
    for cell in response.crosstable:
        score = scores[cell.bot]
        score.wins += cell.wins
        score.draws += cell.draws
        score.losses += cell.losses
    return scores


def _points(cell: pb.CrosstableCell | None) -> str:
    """What was scored in a meeting; a dot where there was none."""
    return f"{cell.wins + cell.draws / 2:g}" if cell is not None else "·"


def state_text(game: game_pb2.Game) -> str:
    """How a game ended and whether that counts, or that it runs."""
    if game.state == game_pb2.GAME_STATE_RUNNING:
        return "running"
    outcome = outcome_from_proto(game.outcome)
    detail = f" ({outcome.detail})" if outcome.detail else ""
    rest = "; not rated, since it repeats an earlier game" if game.repeat else ""
    return f"{outcome}{detail}{rest}"
