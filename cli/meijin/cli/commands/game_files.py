"""`meijin game convert` and `verify`: games as files, without a server."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.commands.game_export import ForceOption
from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.errors import CommandError
from meijin.cli.game_selection import (
    BotOption,
    LadderOption,
    Selection,
    SinceOption,
    TournamentOption,
    UntilOption,
    ended_games,
)
from meijin.cli.output import console, count_text, print_json
from meijin.cli.record_files import OutputFormat, games_in, text_output, written
from meijin.game import GameRecord, Variant
from meijin.game.records.file import FileFormat
from meijin.game.records.referee import problems
from meijin.v1 import game_service_pb2 as pb
from meijin.wire import record_from_proto

_FORMATS = "|".join(each.value for each in FileFormat)


def _input_format(text: str) -> FileFormat:
    try:
        return FileFormat(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is no format; there are {_FORMATS}') from None


InputFormatOption = Annotated[
    FileFormat | None,
    typer.Option(
        "--from",
        parser=_input_format,
        metavar=f"[{_FORMATS}]",
        help="What the files are; found out when left out.",
    ),
]
VariantOption = Annotated[
    str, typer.Option(help="What is played where a format does not tell it: pos, and rif's renju.")
]


def convert(
    source: Annotated[Path, typer.Argument(help="A file of games.")],
    target: Annotated[Path, typer.Argument(help="The file to write.")],
    to: Annotated[
        OutputFormat | None, typer.Option("--to", help="What to write; else by the file's name.")
    ] = None,
    form: InputFormatOption = None,
    game: Annotated[
        int | None, typer.Option(min=1, help="Only the game of this place, from 1 on.")
    ] = None,
    variant: VariantOption = "",
    force: ForceOption = False,
) -> None:
    """Write the games of a file in another format.

    What a format has no room for is lost: docs/records.md says what. A game whose moves are not
    legal stops it, and nothing is written.
    """
    wanted = to or _format_of(target)
    games = _records(source, form, _variant(variant), game)
    count = 0
    with text_output(target, force=force) as write:
        for record in games:
            count += 1
            if count > 1 and not wanted.holds_many:
                raise CommandError(
                    f"{wanted.value} holds one game, and {source} has more; choose with --game"
                )
            write(written(record, wanted))
        if not count:
            raise CommandError(f"{source} has no game{f' {game}' if game else ''}")
    console.print(f"{count_text(count)} written to {target}", soft_wrap=True)


def _format_of(path: Path) -> OutputFormat:
    ending = {".jsonl": "json", ".txt": "pos", ".htm": "html"}.get(
        path.suffix.lower(), path.suffix.lower().removeprefix(".")
    )
    formats = {each.value: each for each in OutputFormat if not each.is_table}
    if ending not in formats:
        raise CommandError(f"{path.name} tells no format; say with --to: {', '.join(formats)}")
    return formats[ending]


def _variant(text: str) -> Variant | None:
    try:
        return Variant.parse(text) if text else None
    except ValueError as error:
        raise CommandError(str(error)) from None


def _records(
    source: Path, form: FileFormat | None, variant: Variant | None, chosen: int | None
) -> Iterator[GameRecord]:
    for number, found in enumerate(games_in(source, form, variant), start=1):
        if chosen not in {None, number}:
            continue
        if found.record is None:
            raise CommandError(f"{source}, {found.place}: {found.error}")
        yield found.record


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the referee says of one game."""

    source: str
    """The file, or the server."""
    place: str
    black: str = ""
    white: str = ""
    plies: int = 0
    end: str = ""
    problems: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The verdict for people."""
        if self.problems:
            return f"{self.source}, {self.place}: WRONG: {'; '.join(self.problems)}"
        return f"{self.source}, {self.place}: ok: {self.end}, {self.plies} plies"


@with_server
def verify(
    connection: Connection,
    games: Annotated[
        list[str] | None,
        typer.Argument(help="Files of games, or games of the server by their numbers."),
    ] = None,
    form: InputFormatOption = None,
    variant: VariantOption = "",
    tournament: TournamentOption = "",
    bot: BotOption = "",
    ladder: LadderOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what is wrong.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Referee games again: every move by its rule, the result by the moves, the clocks.

    The options choose among the server's ended games. A line a game; the status is 1 where one
    of them can't be true.
    """
    selection = Selection(tournament, bot, ladder, since, until)
    if not games and selection.is_empty:
        raise CommandError("name files or games, or choose with --tournament, --bot or --ladder")
    found = 0
    wrong: list[Verdict] = []
    kept: list[Verdict] = []
    named = _verdicts(games or [], form, _variant(variant), connection)
    chosen = () if selection.is_empty else _selected(connection, selection)
    for verdict in chain(named, chosen):
        found += 1
        if verdict.problems:
            wrong.append(verdict)
        if as_json:
            kept.append(verdict)
        elif verdict.problems or not quiet:
            console.print(verdict.line, soft_wrap=True)
    if as_json:
        print_json({"games": found, "wrong": len(wrong), "verdicts": list(map(asdict, kept))})
    else:
        console.print(f"{count_text(found)}, {len(wrong)} wrong")
    if wrong:
        raise typer.Exit(1)


def _verdicts(
    names: list[str], form: FileFormat | None, variant: Variant | None, connection: Connection
) -> Iterator[Verdict]:
    for name in names:
        path = Path(name)
        if name.isascii() and name.isdigit() and not path.exists():
            yield _verdict(connection.server.address, f"game {name}", _stored(connection, name))
            continue
        is_empty = True
        for read in games_in(path, form, variant):
            is_empty = False
            if read.record is None:
                yield Verdict(name, read.place, problems=(read.error,))
            else:
                yield _verdict(name, read.place, read.record)
        if is_empty:
            yield Verdict(name, "all of it", problems=("it holds no game",))


def _selected(connection: Connection, selection: Selection) -> Iterator[Verdict]:
    for game in ended_games(connection, selection):
        yield _verdict(connection.server.address, f"game {game.game_id}", record_from_proto(game))


def _stored(connection: Connection, key: str) -> GameRecord:
    request = pb.GetGameRequest(game_id=key)
    return record_from_proto(connection.ask(connection.games.GetGame, request).game)


def _verdict(source: str, place: str, record: GameRecord) -> Verdict:
    return Verdict(
        source=source,
        place=place,
        black=record.black,
        white=record.white,
        plies=len(record.moves),
        end="no result" if record.outcome is None else str(record.outcome),
        problems=tuple(problems(record)),
    )
