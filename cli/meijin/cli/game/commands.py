"""`meijin game`: look at games, export, convert, verify, replay and void them."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from meijin.cli.bot.options import ProgramCommand
from meijin.cli.command import USUAL_LIMIT, Commands, LimitOption, Output, list_output, option
from meijin.cli.errors import CommandError
from meijin.cli.game.files import convert, export
from meijin.cli.game.replay import replay
from meijin.cli.game.selection import GameSelection, get_game
from meijin.cli.game.source import FolderOption, games_of
from meijin.cli.game.stepping import step_through
from meijin.cli.game.verify import verify
from meijin.cli.game.view import (
    board_text,
    headline,
    move_line,
    ply_text,
    print_game,
    print_line,
    state_text,
)
from meijin.cli.output import console, printable
from meijin.cli.profile import Profile
from meijin.cli.tables import number, text
from meijin.local.connection import Connection
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb

app = Commands()
app.command()(export)
app.command()(convert)
app.command()(verify)
app.command(cls=ProgramCommand)(replay)

GameArgument = Annotated[str, typer.Argument(help="The game's number.")]

COLUMNS = (
    text("game", "game_id"),
    text("black"),
    text("white"),
    number("plies", "ply"),
    number("end", state_text),
)


@app.command()
def show(
    profile: Profile,
    game: GameArgument,
    ply: Annotated[int | None, option("Only the position after this many plies.", 0)] = None,
    step: Annotated[bool, "Step through the game by keys, from --ply or its end."] = False,
    data: FolderOption = None,
) -> Output:
    """Show a game: its board, moves, times, what the bots thought of them, and its end.

    The last move stands in parentheses, and a winning line in capitals.
    """
    with games_of(profile, data) as source:
        found = get_game(source, game)
    last = len(found.moves)
    if ply is not None and ply > last:
        raise CommandError(f"--ply {ply}: game {game} has plies 0 to {last}")
    at = last if ply is None else ply
    cut = deepcopy(found)
    del cut.moves[at:]

    def print_it() -> None:
        if step:
            step_through(found, at)
        elif ply is None:
            print_game(found)
        else:
            console.print(headline(found), board_text(found, ply), sep="\n")
            print_line(ply_text(found, ply))

    return Output(cut, [print_it])


@app.command("list")
def list_(
    profile: Profile,
    selection: GameSelection,
    limit: LimitOption = USUAL_LIMIT,
    data: FolderOption = None,
) -> Output:
    """List games, newest first."""
    with games_of(profile, data) as source:
        ask, method = source.ask, source.games.ListGames
        return list_output(ask, method, selection.request(), "Games", COLUMNS, limit)


@app.command()
def watch(connection: Connection, game: GameArgument) -> None:
    """Follow a running game, move by move: a board that changes, or on a pipe a line a move."""
    request = pb.WatchGameRequest(game_id=game)
    positions = _positions(connection.watch(connection.games.WatchGame, request))
    last = _watch_screen(positions) if console.is_terminal else _watch_lines(positions)
    console.print(state_text(last))


def _positions(facts: Iterable[pb.WatchGameResponse]) -> Iterator[game_pb2.Game]:
    """The game as it stands, after each message about it; the same object grows."""
    shown = game_pb2.Game()
    for fact in facts:
        if fact.HasField("game"):
            shown = fact.game
        else:
            shown.moves.extend(fact.moves)
        yield shown


def _watch_screen(positions: Iterable[game_pb2.Game]) -> game_pb2.Game:
    shown = game_pb2.Game()
    with Live(console=console, auto_refresh=False) as live:
        for shown in positions:
            said = ply_text(shown, len(shown.moves))
            line = Text(printable(said), no_wrap=True, overflow="ellipsis")
            live.update(Group(headline(shown), board_text(shown), line), refresh=True)
    return shown


def _watch_lines(positions: Iterable[game_pb2.Game]) -> game_pb2.Game:
    printed, shown = -1, game_pb2.Game()
    for shown in positions:
        if printed < 0:
            print_line(headline(shown))
        for ply in range(max(0, printed), len(shown.moves)):
            print_line(move_line(shown, ply))
        printed = len(shown.moves)
    console.print(board_text(shown))
    return shown


@app.command()
def void(
    connection: Connection,
    game: GameArgument,
    reason: Annotated[str, "Why, in a sentence that is kept with the game."],
) -> Output:
    """Void a game: it counts nowhere any more, and its pairing is played again."""
    request = pb.VoidGameRequest(game_id=game, reason=reason)
    voided = connection.ask_with_token(connection.games.VoidGame, request).game
    return Output(voided, [f"game {voided.game_id}: {state_text(voided)}"])
