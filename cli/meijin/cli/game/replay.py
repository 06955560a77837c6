"""`meijin game replay`: the very turn of a game, for a bot on its author's machine."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from meijin.bots import Bot, Choice, Resignation, load_bot
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.wire import analysis_to_proto
from meijin.cli.bot.options import BotSettingsOption, is_behind_dashes, read_option
from meijin.cli.command import JsonOption, option
from meijin.cli.errors import CommandError
from meijin.cli.game.files import games_in, record_of
from meijin.cli.game.replaying import Reply, replies
from meijin.cli.game.selection import get_game
from meijin.cli.game.source import FolderOption, games_of
from meijin.cli.output import console, print_file, print_json
from meijin.cli.profile import Profile
from meijin.game import (
    Board,
    Choose,
    Declare,
    GameRecord,
    Offer,
    Placement,
    Variant,
    cell_name,
    decode_moves,
)
from meijin.game.records.recorded_turn import RecordedTurn, player_of, recorded_turns
from meijin.wire.records import decision_times, record_from_proto
from meijin.wire.values import told_numbers

MORE = timedelta(seconds=10)
"""Waited beyond the time that a move had, when nobody says how long."""


def replay(
    profile: Profile,
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
        option("The turn with this many stones on the board; the game's last when left out.", 0),
    ] = None,
    chosen: Annotated[bool, "Where a side was chosen: the turn after that."] = False,
    place: Annotated[int, option("In a file, the game of this place.", 1, flags=("--game",))] = 1,
    times: Annotated[int, option("How often to ask.", 1, 10_000)] = 1,
    wait: Annotated[
        float | None,
        option(
            "Seconds to wait for an answer; what the move had and 10 more when left out.",
            0.001,
            1e6,
        ),
    ] = None,
    data: FolderOption = None,
    options: BotSettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a bot the very turn of a game, with its clocks, and show what it answers.

    The exit status is 1 if an answer failed, was illegal or came after the bot's time.
    """
    record, times_decided = (
        _from_file(Path(game), place) if Path(game).is_file() else _stored(game, profile, data)
    )
    turn = _turn(record, times_decided, ply, is_chosen=chosen)
    program = _bot(bot, options or [], record.variant, is_engine=is_behind_dashes(context))
    budget = _budget(record, turn)
    patience = budget + MORE if wait is None else timedelta(seconds=wait)
    if not as_json:
        _print_turn(record, turn)
    answers = []
    with redirect_stdout(sys.stderr) if as_json else nullcontext():  # what a bot prints
        for reply in replies(program, record, turn, times=times, wait=patience):
            answers.append(_answer_object(reply, record, turn, budget))
            if not as_json:
                _print_answer(answers[-1], reply, budget)
    if as_json:
        print_json(_turn_object(record, turn) | {"answers": answers})
    if not all(answer["in_time"] and answer["legal"] for answer in answers):
        raise typer.Exit(1)


def _stored(
    game: str, profile: Profile, data: Path | None
) -> tuple[GameRecord, Sequence[timedelta]]:
    """A game of the server or a folder, and what each decision of its opening took."""
    with games_of(profile, data) as source:
        found = get_game(source, game)
    try:
        return record_from_proto(found), decision_times(found)
    except ValueError as error:
        raise CommandError(f"game {game}: {error}") from None


def _from_file(path: Path, place: int) -> tuple[GameRecord, Sequence[timedelta]]:
    for number, found in enumerate(games_in(path), start=1):
        if number == place:
            return record_of(path, found), ()
    raise CommandError(f"{path} has no game {place}")


def _turn(
    record: GameRecord, times_decided: Sequence[timedelta], ply: int | None, *, is_chosen: bool
) -> RecordedTurn:
    try:
        turns = list(recorded_turns(record, times_decided))
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
    own = timedelta(microseconds=turn.own_ns // 1000)
    cap = record.clock().controls[turn.seat - 1].per_move
    return own if cap is None else min(own, cap)


def _bot(words: list[str], options: list[str], variant: Variant, *, is_engine: bool) -> Bot:
    if is_engine:
        low, high = sorted((variant.width, variant.height))
        from meijin.bots.bridge.settings import WrapSettings, find_command  # noqa: PLC0415
        from meijin.bots.bridge.wrapped import WrappedBot  # noqa: PLC0415 - takes 10 ms

        settings = WrapSettings(
            command=find_command(words),
            rules=(variant.rule,),
            sizes=(low, high),
            options=dict(read_option(text) for text in options),
        )
        return WrappedBot(settings)
    if len(words) > 1:
        said = f'"{words[1]}" is one word too many; an engine\'s command goes behind --'
        raise CommandError(said)
    return load_bot(words[0], options)


def _answer_object(
    reply: Reply, record: GameRecord, turn: RecordedTurn, budget: timedelta
) -> dict[str, Any]:
    answer = reply.answer
    made: dict[str, Any] = {
        "answer": None if answer is None else _words(answer, record.variant),
        "seconds": round(reply.taken.total_seconds(), 6),
        "in_time": answer is not None and reply.taken <= budget,
        "legal": _is_legal(answer, record, turn),
        "is_move_played": turn.answer is not None and _action(answer) == turn.answer,
    }
    said = answer.analysis if isinstance(answer, Choice) else None
    if said is not None and (sent := analysis_to_proto(said)) is not None:
        pv = [_cell(cell, record.variant) for cell in decode_moves(sent.pv)]
        numbers = dict(zip(("score", "depth", "nodes"), told_numbers(sent), strict=True))
        made["analysis"] = numbers | {"pv": pv}
    if isinstance(answer, Failure):
        made["cause"] = "supplier" if answer.is_suppliers else "bot"
        made["traceback"] = reply.traceback
    return made


def _action(answer: object) -> object:
    return answer.cell if isinstance(answer, Choice) else answer


def _is_legal(answer: object, record: GameRecord, turn: RecordedTurn) -> bool:
    cell = _action(answer)
    if isinstance(cell, int):
        board = Board.from_moves(record.moves[: turn.ply], record.variant)
        return cell < record.variant.cells and board.is_legal(cell)
    return answer is not None and not isinstance(answer, Failure)


def _words(answer: object, variant: Variant) -> str:
    match answer:
        case Failure():
            return answer.message
        case Resignation():
            return "resigns"
        case Choose():
            return f"chooses {answer.color.name.lower()}"
        case Placement() | Offer():
            cells = " ".join(_cell(cell, variant) for cell in answer.cells)
            return f"offers {cells}" if isinstance(answer, Offer) else cells
        case Declare(offers):
            return f"declares {offers}"
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


def _print_answer(found: dict[str, Any], reply: Reply, budget: timedelta) -> None:
    taken = f"{reply.taken.total_seconds():.3f} s"
    had = f"{taken} of {budget.total_seconds():.3f} s"
    if reply.answer is None:
        console.print(f"no answer in {taken}: given up", soft_wrap=True)
        return
    if isinstance(reply.answer, Failure):
        if reply.traceback:
            print_file(reply.traceback + "\n")
        whose = "its supplier failed" if reply.answer.is_suppliers else "it failed"
        console.print(f"{whose} after {had}: {reply.answer.message}", soft_wrap=True)
        return
    notes = {
        "illegal": not found["legal"],
        "too late": not found["in_time"],
        "the move played": found["is_move_played"],
    }
    said = [f"{found['answer']} after {had}", *(note for note, is_so in notes.items() if is_so)]
    console.print(", ".join(said))
    if analysis := found.get("analysis"):
        score, depth, nodes = (
            "-" if analysis[name] is None else analysis[name]
            for name in ("score", "depth", "nodes")
        )
        console.print(
            f"score {score}, depth {depth}, {nodes} nodes, expects {' '.join(analysis['pv'])}",
            soft_wrap=True,
        )
