"""`meijin game`: look at games, export, convert, verify, replay and void them."""

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from meijin.cli.bot_options import ProgramCommand
from meijin.cli.commands.game_export import export
from meijin.cli.commands.game_files import convert, verify
from meijin.cli.commands.game_replay import replay
from meijin.cli.connection import PAGE, Connection, JsonOption, with_server
from meijin.cli.errors import CommandError
from meijin.cli.game_selection import (
    BotOption,
    LadderOption,
    Selection,
    SinceOption,
    TournamentOption,
    UntilOption,
)
from meijin.cli.game_view import board_text, headline, move_line, ply_text, print_game, print_line
from meijin.cli.listing import OLDER, USUAL_LIMIT, LimitOption, read_list
from meijin.cli.output import console, print_json, printable, state_text, table
from meijin.cli.stepping import step_through
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb

app = typer.Typer(
    help="Look at games, export, convert, verify, replay and void them.", no_args_is_help=True
)
app.command()(export)
app.command()(convert)
app.command()(verify)
app.command(cls=ProgramCommand)(replay)

GameArgument = Annotated[str, typer.Argument(help="The game's number.")]


@app.command()
@with_server
def show(
    connection: Connection,
    game: GameArgument,
    ply: Annotated[
        int | None, typer.Option(min=0, help="Only the position after so many plies.")
    ] = None,
    step: Annotated[
        bool, typer.Option("--step", help="Step through the game by keys, from --ply or its end.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a game: its board, moves, times, what the bots thought of them, and its end.

    The last move stands in parentheses, and a winning line in capitals.
    """
    found = connection.ask(connection.games.GetGame, pb.GetGameRequest(game_id=game)).game
    if ply is not None and ply > len(found.moves):
        raise CommandError(f"--ply {ply}: game {game} has plies 0 to {len(found.moves)}")
    if as_json:
        del found.moves[len(found.moves) if ply is None else ply :]
        print_json(found)
    elif step:
        step_through(found, len(found.moves) if ply is None else ply)
    elif ply is None:
        print_game(found)
    else:
        console.print(headline(found))
        console.print(board_text(found, ply))
        print_line(ply_text(found, ply))


@app.command("list")
@with_server
def list_(
    connection: Connection,
    tournament: TournamentOption = "",
    bot: BotOption = "",
    ladder: LadderOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    limit: LimitOption = USUAL_LIMIT,
    as_json: JsonOption = False,
) -> None:
    """List games, newest first."""
    selection = Selection(tournament, bot, ladder, since, until)
    request = selection.request(size=PAGE, with_moves=False)
    response = read_list(
        connection.ask,
        connection.games.ListGames,
        request,
        rows=lambda response: response.games,
        limit=limit,
    )
    if as_json:
        print_json(response)
        return
    made = table("Games", ("game", "black", "white", "plies", "end"), text_columns=3)
    for game in response.games:
        made.add_row(game.game_id, game.black, game.white, str(game.ply), state_text(game))
    console.print(made)
    if response.next_page_token:
        console.print(OLDER)


@app.command()
@with_server
def watch(connection: Connection, game: GameArgument) -> None:
    """Follow a running game, move by move: a board that changes, or on a pipe a line a move."""
    request = pb.WatchGameRequest(game_id=game)
    facts = connection.watch(connection.games.WatchGame, request)
    positions = _positions(facts)
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
    """Show one board, which changes."""
    shown = game_pb2.Game()
    with Live(console=console, auto_refresh=False) as live:
        for shown in positions:
            said = ply_text(shown, len(shown.moves))
            line = Text(printable(said), no_wrap=True, overflow="ellipsis")
            live.update(Group(headline(shown), board_text(shown), line), refresh=True)
    return shown


def _watch_lines(positions: Iterable[game_pb2.Game]) -> game_pb2.Game:
    """Print a line for each move, and the board at the end."""
    told, shown = -1, game_pb2.Game()
    for shown in positions:
        if told < 0:
            print_line(headline(shown))
        for ply in range(max(0, told), len(shown.moves)):
            print_line(move_line(shown, ply))
        told = len(shown.moves)
    console.print(board_text(shown))
    return shown


@app.command()
@with_server
def void(
    connection: Connection,
    game: GameArgument,
    reason: Annotated[str, typer.Option(help="Why, in a sentence that is kept with the game.")],
    as_json: JsonOption = False,
) -> None:
    """Void a game: it counts nowhere any more, and its pairing is played again."""
    request = pb.VoidGameRequest(game_id=game, reason=reason)
    voided = connection.ask_with_token(connection.games.VoidGame, request).game
    if as_json:
        print_json(voided)
        return
    console.print(f"game {voided.game_id}: {state_text(voided)}")
