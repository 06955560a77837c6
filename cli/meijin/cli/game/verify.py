"""`meijin game verify`: games of files and servers, refereed again."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.command import JsonOption
from meijin.cli.errors import CommandError
from meijin.cli.game.files import InputFormatOption, InputVariantOption, games_in, input_variant
from meijin.cli.game.selection import GameSelection, ended_games, get_game
from meijin.cli.game.source import FolderOption, GameSource, games_of
from meijin.cli.output import console, print_json
from meijin.cli.profile import Profile
from meijin.cli.tables import count_text
from meijin.game import GameRecord, Variant
from meijin.game.records.file import FileFormat
from meijin.game.records.referee import problems
from meijin.v1 import game_pb2
from meijin.wire.records import record_from_proto


@dataclass(frozen=True, slots=True)
class GameVerdict:
    """What the referee says of one game."""

    source: str
    """The file, the server or the folder."""
    place: str
    black: str = ""
    white: str = ""
    plies: int = 0
    end: str = ""
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, place: str, record: GameRecord) -> "GameVerdict":
        return cls(
            source=source,
            place=place,
            black=record.black,
            white=record.white,
            plies=len(record.moves),
            end="no result" if record.outcome is None else str(record.outcome),
            problems=tuple(problems(record)),
        )

    def __str__(self) -> str:
        if self.problems:
            return f"{self.source}, {self.place}: WRONG: {'; '.join(self.problems)}"
        return f"{self.source}, {self.place}: ok: {self.end}, {self.plies} plies"


def verify(
    profile: Profile,
    games: Annotated[
        list[str] | None,
        typer.Argument(help="Files of games, or games of the server by their numbers."),
    ] = None,
    form: InputFormatOption = None,
    variant: InputVariantOption = "",
    *,
    selection: GameSelection,
    data: FolderOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what is wrong.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Referee games again: every move by its rule, the result by the moves, the clocks.

    The options choose among the ended games of the server or the folder. A line a game; the
    status is 1 where one of them can't be true.
    """
    if not games and selection.is_empty and data is None:
        raise CommandError("name files or games, or choose with --tournament, --bot or --ladder")
    found = wrong = 0
    kept: list[GameVerdict] = []
    where = profile.endpoint.address if data is None else str(data)
    with games_of(profile, data) as source:
        named = _verdicts(games or [], form, input_variant(variant), source, where)
        selected = () if games and selection.is_empty else ended_games(source, selection)
        for verdict in chain(named, (_stored(where, game) for game in selected)):
            found += 1
            wrong += bool(verdict.problems)
            if as_json:
                kept.append(verdict)
            elif verdict.problems or not quiet:
                console.print(str(verdict), soft_wrap=True)
    if as_json:
        print_json({"games": found, "wrong": wrong, "verdicts": list(map(asdict, kept))})
    else:
        console.print(f"{count_text(found)}, {wrong} wrong")
    if wrong:
        raise typer.Exit(1)


def _verdicts(
    names: list[str],
    form: FileFormat | None,
    variant: Variant | None,
    source: GameSource,
    where: str,
) -> Iterator[GameVerdict]:
    for name in names:
        path = Path(name)
        if name.isascii() and name.isdigit() and not path.exists():
            yield _stored(where, get_game(source, name))
            continue
        is_empty = True
        for read in games_in(path, form, variant):
            is_empty = False
            if read.record is None:
                yield GameVerdict(name, read.place, problems=(read.error,))
            else:
                yield GameVerdict.of(name, read.place, read.record)
        if is_empty:
            yield GameVerdict(name, "all of it", problems=("it holds no game",))


def _stored(where: str, game: game_pb2.Game) -> GameVerdict:
    return GameVerdict.of(where, f"game {game.game_id}", record_from_proto(game))
