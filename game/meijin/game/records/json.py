"""Games as JSON objects, which hold all that a record does; docs/records.md has the schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NoReturn, TypeVar

from meijin.game.board.board import Board
from meijin.game.board.coordinates import cell_name, parse_cell
from meijin.game.clock import TimeControl
from meijin.game.color import Color
from meijin.game.outcome import Ending, Outcome, Party
from meijin.game.position import Choose, Decision, DecisionAction, Declare, Offer
from meijin.game.records.analysis import Analysis
from meijin.game.records.record import GameEngine, GameRecord
from meijin.game.rules.variant import Variant

T = TypeVar("T")
R = TypeVar("R")

FORMAT = "meijin-game"
VERSION = 2
MAX_TIME_US = 10**15
"""Thirty years: what a move may take in a file."""


def to_json(record: GameRecord) -> str:
    """Write a record as one object in one line, without a line break at its end."""
    return json.dumps(json_object(record), ensure_ascii=False)


def json_object(record: GameRecord) -> dict[str, Any]:
    control, start, end = record.time_control, record.start_time, record.end_time
    white = record.white_time_control
    return {
        "format": FORMAT,
        "version": VERSION,
        "game_id": record.game_id,
        "event": record.event,
        "variant": str(record.variant),
        "time_control": None if control is None else str(control),
        **({} if white is None else {"white_time_control": str(white)}),
        "round": record.round,
        "pair": record.pair,
        "seed": record.seed,
        "release": record.release,
        "black": _side(record.black, record.black_version, record.black_engine),
        "white": _side(record.white, record.white_version, record.white_engine),
        "start_time": None if start is None else start.isoformat(),
        "end_time": None if end is None else end.isoformat(),
        "opening_plies": record.opening_plies,
        "decisions": [_decision_object(each, record.variant) for each in record.decisions],
        "moves": [_move(record, ply) for ply in range(len(record.moves))],
        "outcome": None if record.outcome is None else _outcome_object(record.outcome),
    }


def _side(name: str, version: str, engine: GameEngine) -> dict[str, Any]:
    return {"name": name, "version": version, **_engine_object(engine)}


def engine_to_json(engine: GameEngine) -> str:
    """Write what a side of a record says of its program as one object."""
    return json.dumps(_engine_object(engine), ensure_ascii=False)


def _engine_object(engine: GameEngine) -> dict[str, Any]:
    return {
        "digest": engine.digest,
        "options": list(engine.configuration),
        "hardware": engine.hardware,
        "threads": engine.threads,
        "memory_bytes": engine.memory_bytes,
    }


def _move(record: GameRecord, ply: int) -> dict[str, Any]:
    move: dict[str, Any] = {"cell": cell_name(record.moves[ply], record.variant)}
    if record.times:
        move["charged_time_seconds"] = record.times[ply].total_seconds()
    if record.raw_times:
        move["raw_time_seconds"] = record.raw_times[ply].total_seconds()
    if record.cpu_times and (cpu_time := record.cpu_times[ply]) is not None:
        move["cpu_time_seconds"] = cpu_time.total_seconds()
    analysis = record.analysis[ply] if record.analysis else None
    if analysis is not None:
        numbers = {"score": analysis.score, "depth": analysis.depth, "nodes": analysis.nodes}
        move["analysis"] = {
            **{name: number for name, number in numbers.items() if number is not None},
            "pv": [cell_name(cell, record.variant) for cell in analysis.pv],
        }
    return move


def _outcome_object(outcome: Outcome) -> dict[str, Any]:
    winner = outcome.winner
    return {
        "winner": None if winner is None else winner.name.lower(),
        "ending": outcome.ending.value,
        "at_fault": None if outcome.at_fault is Party.NOBODY else outcome.at_fault.value,
        "detail": outcome.detail,
    }


def from_json(text: str) -> GameRecord:
    """Read a record; fields that are unknown are passed over.

    Raises:
        ValueError: the text is no such object, or its moves are no legal game.
    """
    game = _parse(text, "the game")
    if game.get("format", str) != FORMAT or game.get("version", int) != VERSION:
        raise ValueError(f'it is no game in the format "{FORMAT}" of version {VERSION}')
    variant = Variant.parse(game.get("variant", str))
    return _record(game, variant)


def _parse(text: str, name: str) -> _Fields:
    try:
        found = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    return _Fields(found, name)


def _record(game: _Fields, variant: Variant) -> GameRecord:
    moves = [_Fields(move, f"move {ply}") for ply, move in enumerate(game.get("moves", list))]
    if len(moves) > variant.cells:
        raise ValueError(f"{len(moves)} moves are too many for the {variant.size} board")
    black, white = (_Fields(game.get(side, dict), side) for side in ("black", "white"))
    return GameRecord(
        variant=variant,
        black=black.get("name", str),
        white=white.get("name", str),
        moves=tuple(_played(moves, variant).moves),
        times=_times(moves, "charged_time_seconds"),
        raw_times=_times(moves, "raw_time_seconds"),
        cpu_times=tuple(move.optional("cpu_time_seconds", float, _time) for move in moves),
        analysis=tuple(_analysis(move, variant) for move in moves),
        opening_plies=game.get("opening_plies", int),
        time_control=game.optional("time_control", str, TimeControl.parse),
        outcome=game.optional("outcome", dict, _outcome),
        start_time=game.optional("start_time", str, datetime.fromisoformat),
        end_time=game.optional("end_time", str, datetime.fromisoformat),
        event=game.get("event", str),
        decisions=tuple(_decision(each, variant) for each in game.get("decisions", list)),
        game_id=game.get("game_id", str),
        black_version=black.get("version", str),
        white_version=white.get("version", str),
        white_time_control=game.optional("white_time_control", str, TimeControl.parse),
        black_engine=_engine(black),
        white_engine=_engine(white),
        pair=game.get_or("pair", 0),
        round=game.get_or("round", 0),
        seed=game.get_or("seed", 0),
        release=game.get_or("release", ""),
    ).checked()


def engine_from_json(text: str) -> GameEngine:
    """Read what `engine_to_json` has written.

    Raises:
        ValueError: it is no such object.
    """
    return _engine(_parse(text, "an engine"))


def _engine(side: _Fields) -> GameEngine:
    return GameEngine(
        digest=side.get_or("digest", ""),
        configuration=tuple(_text(each) for each in side.get_or("options", list[object]())),
        hardware=side.get_or("hardware", ""),
        threads=side.optional("threads", int, int),
        memory_bytes=side.optional("memory_bytes", int, int),
    )


class _Fields:
    """The fields of one JSON object."""

    def __init__(self, found: object, name: str) -> None:
        if not isinstance(found, dict):
            raise ValueError(f"{name} is no JSON object")  # noqa: TRY004 - a file is wrong
        self._found: Mapping[str, object] = found
        self._name = name

    def get(self, field: str, kind: type[T]) -> T:
        """The value of a field.

        Raises:
            ValueError: it is missing or of another kind.
        """
        value = self._found.get(field)
        if kind is float and type(value) is int and abs(value) <= MAX_TIME_US:
            value = float(value)
        if type(value) is not kind:  # a bool is no number here
            raise ValueError(f'{self._name} needs a field "{field}" ({kind.__name__})')
        if kind is str:
            _text(value)
        return value

    def get_or(self, field: str, default: T) -> T:
        """The value of a field; the default where it is missing or null."""
        if self._found.get(field) is None:
            return default
        return self.get(field, type(default))

    def optional(self, field: str, kind: type[T], read: Callable[[T], R]) -> R | None:
        """What a field says; ``None`` where it is missing or null."""
        if self._found.get(field) is None:
            return None
        return read(self.get(field, kind))


def _text(value: object) -> str:
    text = str(value)
    text.encode()  # JSON can escape half of a pair of surrogates, which no file holds
    return text


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON's")


def _played(moves: list[_Fields], variant: Variant) -> Board:
    board = Board(variant)
    for ply, move in enumerate(moves):
        try:
            board.play(parse_cell(move.get("cell", str), variant))
        except ValueError as error:
            raise ValueError(f"move {ply}: {error}") from error
    return board


def _times(moves: list[_Fields], field: str) -> tuple[timedelta, ...]:
    """Times of all moves, or of none."""
    times = [move.optional(field, float, _time) for move in moves]
    known = [time for time in times if time is not None]
    if len(known) not in {0, len(times)}:
        raise ValueError(f'"{field}" stands with some of the moves and not with all')
    return tuple(known)


def _time(seconds: float) -> timedelta:
    if not 0 <= seconds <= MAX_TIME_US / 1e6:
        raise ValueError(f"a move can't take {seconds} seconds")
    return timedelta(seconds=seconds)


def _analysis(move: _Fields, variant: Variant) -> Analysis | None:
    def read(found: dict[str, object]) -> Analysis:
        fields = _Fields(found, "an analysis")
        pv = tuple(parse_cell(str(cell), variant) for cell in fields.get("pv", list))
        score, depth, nodes = (
            fields.optional(name, int, int) for name in ("score", "depth", "nodes")
        )
        return Analysis(score, depth, nodes, pv)

    return move.optional("analysis", dict, read)


def _outcome(found: dict[str, object]) -> Outcome:
    fields = _Fields(found, "the outcome")
    ending = Ending(fields.get("ending", str))
    return Outcome(
        ending=ending,
        winner=fields.optional("winner", str, _color),
        at_fault=fields.optional("at_fault", str, Party) or Party.NOBODY,
        detail=fields.get("detail", str),
    )


def _decision_object(decision: Decision, variant: Variant) -> dict[str, Any]:
    match decision.action:
        case Choose(color):
            return {"ply": decision.ply, "chosen": color.name.lower()}
        case Declare(count):
            return {"ply": decision.ply, "declared": count}
        case Offer(cells):
            return {"ply": decision.ply, "offered": [cell_name(cell, variant) for cell in cells]}


def _decision(found: object, variant: Variant) -> Decision:
    def read_offer(cells: list[object]) -> Offer:
        return Offer(tuple(parse_cell(str(cell), variant) for cell in cells))

    fields = _Fields(found, "a decision")
    chosen = fields.optional("chosen", str, _color)
    declared = fields.optional("declared", int, Declare)
    action: DecisionAction | None = declared or fields.optional("offered", list, read_offer)
    if chosen is not None:
        action = Choose(chosen)
    if action is None:
        raise ValueError("a decision has one of chosen, declared and offered")
    return Decision(fields.get("ply", int), action)


def _color(name: str) -> Color:
    if name.upper() not in Color.__members__:
        raise ValueError(f'"{name}" is no side; write black or white')
    return Color[name.upper()]
