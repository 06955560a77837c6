"""`meijin game`: look at games, export, convert, verify, replay and void them."""

from datetime import timedelta
from typing import Annotated

import typer
from rich.text import Text

from meijin.cli.bot_options import ProgramCommand
from meijin.cli.commands.game_export import export
from meijin.cli.commands.game_files import convert, verify
from meijin.cli.commands.game_replay import replay
from meijin.cli.connection import (
    USUAL_SERVER,
    JsonOption,
    Server,
    TokenOption,
    connect,
    with_server,
)
from meijin.cli.game_selection import (
    BotOption,
    LadderOption,
    Selection,
    SinceOption,
    TournamentOption,
    UntilOption,
)
from meijin.cli.output import OLDER, console, print_json, state_text, table
from meijin.game import Board, Color, cell_name
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.wire import color_from_proto, variant_from_proto

app = typer.Typer(
    help="Look at games, export, convert, verify, replay and void them.", no_args_is_help=True
)
app.command()(export)
app.command()(convert)
app.command()(verify)
app.command(cls=ProgramCommand)(replay)

GameArgument = Annotated[str, typer.Argument(help="The game's number.")]

MOVES_A_LINE = 6


@app.command()
@with_server
def show(game: GameArgument, server: Server = USUAL_SERVER, as_json: JsonOption = False) -> None:
    """Show a game: its board, moves, times and end."""
    with connect(server) as connection:
        found = connection.ask(connection.games.GetGame, pb.GetGameRequest(game_id=game)).game
    if as_json:
        print_json(found)
    else:
        print_game(found)


@app.command("list")
@with_server
def list_(
    tournament: TournamentOption = "",
    bot: BotOption = "",
    ladder: LadderOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20,
    server: Server = USUAL_SERVER,
    as_json: JsonOption = False,
) -> None:
    """List games, newest first."""
    selection = Selection(tournament, bot, ladder, since, until)
    request = selection.request(size=limit, with_moves=False)
    with connect(server) as connection:
        response = connection.ask(connection.games.ListGames, request)
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
def watch(game: GameArgument, server: Server = USUAL_SERVER) -> None:
    """Follow a running game, move by move."""
    with connect(server) as connection:
        shown = game_pb2.Game()
        request = pb.WatchGameRequest(game_id=game)
        for fact in connection.watch(connection.games.WatchGame, request):
            if fact.HasField("game"):
                shown = fact.game
            else:
                shown.moves.extend(fact.moves)
            console.print(headline(shown))
            console.print(_board(shown))
        console.print(state_text(shown))


@app.command()
@with_server
def void(
    game: GameArgument,
    reason: Annotated[str, typer.Option(help="Why, in a sentence that is kept with the game.")],
    server: Server = USUAL_SERVER,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Void a game: it counts nowhere any more, and its pairing is played again."""
    request = pb.VoidGameRequest(game_id=game, reason=reason)
    with connect(server, token) as connection:
        voided = connection.ask_with_token(connection.games.VoidGame, request).game
    if as_json:
        print_json(voided)
        return
    console.print(f"game {voided.game_id}: {state_text(voided)}")


def print_game(game: game_pb2.Game) -> None:
    """Print everything that is known of a game."""
    console.print(headline(game))
    if game.pairing_reason:
        console.print(f"why it was paired: {game.pairing_reason}")
    console.print(_board(game))
    console.print(*_moves(game), sep="\n")
    if game.HasField("choice"):
        console.print(_choice_text(game))
    console.print(state_text(game))


def headline(game: game_pb2.Game) -> str:
    """Who plays whom, and what."""
    variant = variant_from_proto(game.variant)
    return f"game {game.game_id}: {game.black} (x, black) against {game.white} (o), {variant}"


def _choice_text(game: game_pb2.Game) -> str:
    """Who chose its side."""
    is_black = color_from_proto(game.choice.color) is Color.BLACK
    name, side = (game.black, "black") if is_black else (game.white, "white")
    return f"{name} chose {side} after {game.choice.ply} stones"


def _board(game: game_pb2.Game) -> Text:
    """The position with coordinates, the last move marked."""
    variant = variant_from_proto(game.variant)
    board = Board.from_moves((move.cell for move in game.moves), variant)
    last = game.moves[-1].cell if game.moves else -1
    text = Text()
    for row in range(variant.height):
        text.append(f"{variant.height - row:>2} ", style="dim")
        for column in range(variant.width):
            cell = row * variant.width + column
            stone = board.stone(cell)
            symbol = "·" if stone is None else stone.symbol
            style = "dim" if stone is None else _STYLES[stone]
            text.append(symbol, style=f"{style} reverse" if cell == last else style)
            text.append(" ")
        text.append("\n")
    letters = " ".join(cell_name(column, variant)[0] for column in range(variant.width))
    return text.append(f"   {letters}", style="dim")


_STYLES = {Color.BLACK: "bold cyan", Color.WHITE: "bold yellow"}


def _moves(game: game_pb2.Game) -> list[str]:
    """Lines with the moves with the seconds they took; the opening's have none."""
    variant = variant_from_proto(game.variant)
    words = []
    for ply, move in enumerate(game.moves):
        seconds = move.charged_time.ToTimedelta() / timedelta(seconds=1)
        time = "" if ply < game.opening_plies else f" {seconds:.3f}"
        words.append(f"{ply + 1:>3}. {cell_name(move.cell, variant):<3}{time}".ljust(16))
    lines = [words[start : start + MOVES_A_LINE] for start in range(0, len(words), MOVES_A_LINE)]
    return ["".join(line).rstrip() for line in lines]
