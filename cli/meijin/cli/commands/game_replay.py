"""`meijin game replay`: the very turn of a game, for a bot on its author's machine."""

import sys
from contextlib import nullcontext, redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from meijin.bots import Bot, Choice, Resignation, load_bot
from meijin.bots.bridge.command import find_command
from meijin.bots.bridge.settings import WrapSettings
from meijin.bots.bridge.wrapped import WrappedBot
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.wire import analysis_to_proto
from meijin.cli.bot_options import BotSettingsOption, is_behind_dashes
from meijin.cli.commands.engines import read_option
from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.errors import CommandError
from meijin.cli.output import console, print_file, print_json
from meijin.cli.record_files import games_in
from meijin.cli.replaying import Reply, replies
from meijin.game import Board, Choose, GameRecord, Placement, Variant, cell_name, decode_moves
from meijin.game.records.recorded_turn import RecordedTurn, player_of, recorded_turns
from meijin.v1 import game_service_pb2 as pb
from meijin.wire import record_from_proto

MORE = timedelta(seconds=10)
"""Waited beyond the time that a move had, when nobody says how long."""


@with_server
def replay(
    connection: Connection,
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="The game's number, or a file of games.")],
    bot: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT | -- ENGINE [ARGS]...",
            help="A bot as for `meijin bot run`, or an engine's command as for `meijin bot wrap`.",
        ),
    ],
    ply: Annotated[
        int | None,
        typer.Option(
            min=0, help="The turn with so many stones on the board; the game's last when left out."
        ),
    ] = None,
    chosen: Annotated[
        bool, typer.Option("--chosen", help="Where a side was chosen: the turn after that.")
    ] = False,
    place: Annotated[
        int, typer.Option("--game", min=1, help="In a file, the game of this place.")
    ] = 1,
    times: Annotated[int, typer.Option(min=1, max=10_000, help="How often to ask.")] = 1,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1e6,
            help="Seconds to wait for an answer; what the move had and 10 more when left out.",
        ),
    ] = None,
    options: BotSettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a bot the very turn of a game, with its clocks, and show what it answers.

    The exit status is 1 if an answer failed, was illegal or came after the bot's time.
    """
    record, choice_time = (
        _from_file(game, place) if Path(game).is_file() else _asked(game, connection)
    )
    turn = _turn(record, choice_time, ply, is_chosen=chosen)
    program = _bot(bot, options or [], record.variant, is_engine=is_behind_dashes(context))
    budget = _budget(record, turn)
    patience = budget + MORE if wait is None else timedelta(seconds=wait)
    if not as_json:
        _print_turn(record, turn)
    answers = []
    with redirect_stdout(sys.stderr) if as_json else nullcontext():  # what a bot prints
        for reply in replies(program, record, turn, times=times, wait=patience):
            answers.append(_told(reply, record, turn, budget))
            if not as_json:
                _print_answer(answers[-1], reply, budget)
    if as_json:
        print_json(_turn_object(record, turn) | {"answers": answers})
    if not all(answer["in_time"] and answer["legal"] for answer in answers):
        raise typer.Exit(1)


# -- the turn ---------------------------------------------------------------------


def _asked(game: str, connection: Connection) -> tuple[GameRecord, timedelta]:
    found = connection.ask(connection.games.GetGame, pb.GetGameRequest(game_id=game)).game
    try:
        return record_from_proto(found), found.choice.charged_time.ToTimedelta()
    except ValueError as error:
        raise CommandError(f"game {game}: {error}") from None


def _from_file(path: str, place: int) -> tuple[GameRecord, timedelta]:
    for number, found in enumerate(games_in(Path(path), None, None), start=1):
        if number == place:
            if found.record is None:
                raise CommandError(f"{path}, {found.place}: {found.error}")
            return found.record, timedelta(0)
    raise CommandError(f"{path} has no game {place}")


def _turn(
    record: GameRecord, choice_time: timedelta, ply: int | None, *, is_chosen: bool
) -> RecordedTurn:
    """The turn that is asked for.

    Raises:
        CommandError: the game has none there, or can't be.
    """
    try:
        turns = list(recorded_turns(record, choice_time))
    except ValueError as error:
        raise CommandError(f"game {record.game_id or 'without a number'}: {error}") from None
    if not turns:
        raise CommandError("nobody was asked for a move in this game")
    found = turns[-1:] if ply is None else [turn for turn in turns if turn.ply == ply]
    if not found:
        first, last = turns[0].ply, turns[-1].ply
        raise CommandError(
            f"nobody was asked at ply {ply}; the game has turns from ply {first} to {last}"
        )
    return found[-1 if is_chosen else 0]


def _budget(record: GameRecord, turn: RecordedTurn) -> timedelta:
    """What the move had."""
    own = timedelta(microseconds=turn.own_ns // 1000)
    cap = record.clock().controls[turn.seat - 1].per_move
    return own if cap is None else min(own, cap)


def _bot(words: list[str], options: list[str], variant: Variant, *, is_engine: bool) -> Bot:
    if is_engine:
        sides = sorted((variant.width, variant.height))
        settings = WrapSettings(
            command=find_command(words),
            rules=(variant.rule,),
            sizes=(sides[0], sides[1]),
            options=dict(read_option(text) for text in options),
        )
        return WrappedBot(settings)
    if len(words) > 1:
        raise CommandError(
            f'"{words[1]}" is one word too many; an engine\'s command goes behind --'
        )
    return load_bot(words[0], options)


# -- what is told -----------------------------------------------------------------


def _told(
    reply: Reply, record: GameRecord, turn: RecordedTurn, budget: timedelta
) -> dict[str, Any]:
    """An answer as JSON has it."""
    answer = reply.answer
    told: dict[str, Any] = {
        "answer": None if answer is None else _words(answer, record.variant),
        "seconds": round(reply.taken.total_seconds(), 6),
        "in_time": answer is not None and reply.taken <= budget,
        "legal": _is_legal(answer, record, turn),
        "is_move_played": turn.answer is not None and _action(answer) == turn.answer,
    }
    if isinstance(answer, Choice) and answer.analysis is not None:
        sent = analysis_to_proto(answer.analysis)
        if sent is not None:
            pv = [_cell(cell, record.variant) for cell in decode_moves(sent.pv)]
            told["analysis"] = {
                "score": sent.score,
                "depth": sent.depth,
                "nodes": sent.nodes,
                "pv": pv,
            }
    if isinstance(answer, Failure):
        told["cause"] = "supplier" if answer.is_suppliers else "bot"
        told["traceback"] = reply.traceback
    return told


def _action(answer: object) -> object:
    """What the answer does on the board."""
    return answer.cell if isinstance(answer, Choice) else answer


def _is_legal(answer: object, record: GameRecord, turn: RecordedTurn) -> bool:
    cell = _action(answer)
    if isinstance(cell, int):
        board = Board.from_moves(record.moves[: turn.ply], record.variant)
        return cell < record.variant.cells and board.is_legal(cell)
    return answer is not None and not isinstance(answer, Failure)


def _words(answer: object, variant: Variant) -> str:
    """An answer in words of people."""
    match answer:
        case Failure():
            return answer.message
        case Resignation():
            return "resigns"
        case Choose():
            return f"chooses {answer.color.name.lower()}"
        case Placement():
            return " ".join(_cell(cell, variant) for cell in answer.cells)
    cell = _action(answer)
    assert isinstance(cell, int)
    return _cell(cell, variant)


def _cell(cell: int, variant: Variant) -> str:
    return cell_name(cell, variant) if 0 <= cell < variant.cells else f"cell {cell}"


def _turn_object(record: GameRecord, turn: RecordedTurn) -> dict[str, Any]:
    task = turn.task
    return {
        "game_id": record.game_id,
        "variant": str(record.variant),
        "time_control": str(record.time_control),
        "ply": turn.ply,
        "player": player_of(record, turn.seat),
        "color": turn.color.name.lower(),
        "task": None if task is None else str(task),
        "own_clock_ms": turn.own_ns // 1_000_000,
        "opponent_clock_ms": turn.opponent_ns // 1_000_000,
        "played": None if turn.answer is None else _words(turn.answer, record.variant),
    }


def _print_turn(record: GameRecord, turn: RecordedTurn) -> None:
    game = f"game {record.game_id}" if record.game_id else "the game"
    mover, other = player_of(record, turn.seat), player_of(record, turn.seat.other)
    own, opponent = turn.own_ns / 1e9, turn.opponent_ns / 1e9
    asked = "move" if turn.task is None else str(turn.task)
    console.print(
        f"{game}, {record.variant}, {record.time_control}, ply {turn.ply}: {mover} is to {asked} "
        f"with {turn.color.name.lower()}; clocks {own:.3f} s, and {opponent:.3f} s of {other}",
        soft_wrap=True,
    )
    if turn.answer is not None:
        console.print(f"it played {_words(turn.answer, record.variant)} there", soft_wrap=True)
    elif record.outcome is not None:
        console.print(f"the game ended there: {record.outcome}", soft_wrap=True)


def _print_answer(told: dict[str, Any], reply: Reply, budget: timedelta) -> None:
    had = f"{reply.taken.total_seconds():.3f} s of {budget.total_seconds():.3f} s"
    if reply.answer is None:
        console.print(f"no answer in {reply.taken.total_seconds():.3f} s: given up", soft_wrap=True)
        return
    if isinstance(reply.answer, Failure):
        if reply.traceback:
            print_file(reply.traceback + "\n")
        whose = "its supplier failed" if reply.answer.is_suppliers else "it failed"
        console.print(f"{whose} after {had}: {reply.answer.message}", soft_wrap=True)
        return
    notes = [] if told["legal"] else ["illegal"]
    notes += [] if told["in_time"] else ["too late"]
    notes += ["the move played"] if told["is_move_played"] else []
    console.print(f"{told['answer']} after {had}{''.join(f', {note}' for note in notes)}")
    if "analysis" in told:
        found = told["analysis"]
        console.print(
            f"score {found['score']}, depth {found['depth']}, {found['nodes']} nodes, "
            f"expects {' '.join(found['pv'])}",
            soft_wrap=True,
        )
