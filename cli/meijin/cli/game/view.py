"""A game on the screen: its board with the winning line, its moves, and what was thought of them."""

from collections.abc import Iterator
from datetime import timedelta

from rich.text import Text

from meijin.cli.bot.tables import DIGEST_LENGTH
from meijin.cli.output import console
from meijin.game import (
    Board,
    Choose,
    Color,
    Declare,
    GameRecord,
    Offer,
    cell_name,
    format_opening,
    winning_line,
)
from meijin.game.records.analysis import cells_on_board
from meijin.game.records.recorded_turn import opening_actions, player_of
from meijin.v1 import game_pb2
from meijin.wire.records import record_from_proto
from meijin.wire.text import memory_text, rate_text
from meijin.wire.values import (
    analysis_from_proto,
    outcome_from_proto,
    variant_from_proto,
)

MOVE_WIDTH = 16
"""Columns of a move with its time."""
USUAL_MOVES_A_LINE = 6

_STYLES = {Color.BLACK: "bold cyan", Color.WHITE: "bold yellow"}
_WINNING_STYLE = "bold green"


def headline(game: game_pb2.Game) -> str:
    variant = variant_from_proto(game.variant)
    return f"game {game.game_id}: {game.black} (x, black) against {game.white} (o), {variant}"


def origin_lines(game: game_pb2.Game) -> Iterator[str]:
    """What played each side, and where in its tournament the game belongs."""
    for name, version, engine in (
        (game.black, game.black_version, game.black_engine),
        (game.white, game.white_version, game.white_engine),
    ):
        said = {
            "version": version,
            "options": " ".join(engine.configuration),
            "digest": engine.digest[:DIGEST_LENGTH],
            "on": engine.hardware,
            "threads": engine.threads,
            "memory": memory_text(engine.memory_bytes),
        }
        if told := ", ".join(f"{key} {value}" for key, value in said.items() if value):
            yield f"{name}: {told}"
    numbers = {"round": game.round, "pair": game.pair, "seed": game.seed, "Meijin": game.release}
    if told := ", ".join(f"{key} {value}" for key, value in numbers.items() if value):
        yield told


def board_text(game: game_pb2.Game, ply: int | None = None) -> Text:
    """The position after a ply, the last one when left out, with coordinates.

    The last move stands in parentheses, and the stones of the winning line in capitals, so that
    both are seen without colours too.
    """
    variant = variant_from_proto(game.variant)
    board = Board.from_moves((move.cell for move in game.moves[:ply]), variant)
    last = board.moves[-1] if board.moves else -1
    line = frozenset(winning_line(board))
    text = Text()
    for row in range(variant.height):
        text.append(f"{variant.height - row:>2}", style="dim")
        for column in range(variant.width):
            cell = row * variant.width + column
            text.append(_gap(column, cell, last))
            stone = board.stone(cell)
            if stone is None:
                text.append("·", style="dim")
            elif cell in line:
                text.append(stone.symbol.upper(), style=_WINNING_STYLE)
            else:
                text.append(stone.symbol, style=_STYLES[stone])
        text.append(")\n" if last == cell else " \n")
    letters = " ".join(cell_name(column, variant)[0] for column in range(variant.width))
    return text.append(f"   {letters}", style="dim")


def _gap(column: int, cell: int, last: int) -> str:
    if cell == last:
        return "("
    return ")" if column and cell - 1 == last else " "


def move_line(game: game_pb2.Game, ply: int) -> str:
    return "  ".join((_move(game, ply), *_thoughts(game, ply))).rstrip()


def move_lines(game: game_pb2.Game, moves_a_line: int) -> Iterator[str]:
    """All moves: a line each where bots have told of their search, else several in a line."""
    plies = range(len(game.moves))
    if any(move.HasField("analysis") for move in game.moves):
        yield from (move_line(game, ply) for ply in plies)
        return
    for start in plies[::moves_a_line]:
        some = plies[start : start + moves_a_line]
        yield "".join(_move(game, ply).ljust(MOVE_WIDTH) for ply in some).rstrip()


def _move(game: game_pb2.Game, ply: int) -> str:
    """A move and its time; those of the opening have none."""
    move = game.moves[ply]
    name = cell_name(move.cell, variant_from_proto(game.variant))
    seconds = move.charged_time.ToTimedelta() / timedelta(seconds=1)
    time = "" if ply < game.opening_plies else f"{seconds:.3f}"
    return f"{ply + 1:>3}. {name:<3} {time:<5}"


def _thoughts(game: game_pb2.Game, ply: int) -> Iterator[str]:
    move = game.moves[ply]
    if not move.HasField("analysis"):
        return
    found = analysis_from_proto(move.analysis)
    yield f"score {'-' if found.score is None else found.score:>6}"
    yield f"depth {'-' if found.depth is None else found.depth:>2}"
    yield f"nodes {'-' if found.nodes is None else rate_text(found.nodes) or 0:>5}"
    variant = variant_from_proto(game.variant)
    cells = cells_on_board(found.pv, variant)
    if cells:
        yield "pv " + " ".join(cell_name(cell, variant) for cell in cells)


def ply_text(game: game_pb2.Game, ply: int) -> str:
    said = move_line(game, ply - 1) if ply else "the empty board"
    return f"ply {ply} of {len(game.moves)}  {said}"


def decision_lines(record: GameRecord) -> Iterator[str]:
    """What was decided in the opening, a line each."""
    for position, action in opening_actions(record):
        player = player_of(record, position.seat_to_act)
        match action:
            case Choose(color):
                said = f"chose {color.name.lower()}"
            case Declare(offers):
                said = f"declared {offers} offers"
            case Offer(cells):
                said = f"offered {format_opening(cells, record.variant)}"
            case _:
                continue
        yield f"{player} {said} after {position.board.ply} stones"


def print_game(game: game_pb2.Game) -> None:
    console.print(headline(game))
    for line in origin_lines(game):
        print_line(line)
    if game.pairing_reason:
        console.print(f"why it was paired: {game.pairing_reason}")
    console.print(board_text(game))
    room = console.width // MOVE_WIDTH if console.is_terminal else USUAL_MOVES_A_LINE
    for line in move_lines(game, max(1, min(USUAL_MOVES_A_LINE, room))):
        print_line(line)
    for said in decision_lines(record_from_proto(game)) if game.decisions else ():
        console.print(said)
    console.print(state_text(game))


def print_line(line: str) -> None:
    """Print a line that a screen cuts off where it ends, and a pipe has whole."""
    if console.is_terminal:
        console.print(line, no_wrap=True, overflow="ellipsis")
    else:
        console.print(line, soft_wrap=True)


def state_text(game: game_pb2.Game) -> str:
    """How a game ended and whether that counts, or that it runs."""
    if game.state == game_pb2.GAME_STATE_RUNNING:
        return "running"
    outcome = outcome_from_proto(game.outcome)
    detail = f" ({outcome.detail})" if outcome.detail else ""
    rest = "; not rated, since it repeats an earlier game" if game.repeat else ""
    return f"{outcome}{detail}{rest}"
