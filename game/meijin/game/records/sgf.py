"""Game records as SGF FF[4], the text that most board game software reads.

Beside the standard properties stand two of our own making, so that what is written is read
back without loss. The comment of a move starts with the time charged for it, ``C[0.125 s]``:
``BL`` and ``WL`` of the standard are the time left. Behind it stand the time from request to
answer and what the bot thought, as far as they are known: ``C[0.125 s, raw 0.13 s, score 30,
depth 9, nodes 4000, pv h8 i9]``; and the decisions of the opening that followed. ``MJ`` in the
root holds what SGF has no word for, as composed values: ``line`` (if it isn't 5), ``openingrule``
(if it isn't free), ``drawat`` (with how many stones a game is drawn, if not on a full board),
``decisions`` (of the opening, as `decisions` writes them), ``opening`` (its plies), ``start`` and
``end`` (the instants), ``black`` and ``white`` (the players' versions), ``blackengine`` and
``whiteengine`` (what played, as JSON has it), ``pair``, ``seed`` and ``release``, and of the
outcome the ``ending``, ``fault`` and ``detail``.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from meijin.game.board.board import Board
from meijin.game.board.coordinates import COLUMNS, cell_at, cell_name
from meijin.game.clock import TimeControl, format_seconds, parse_seconds
from meijin.game.color import Color
from meijin.game.outcome import Ending, Outcome, Party, Result
from meijin.game.position import Choose, Declare, Offer
from meijin.game.records.analysis import Analysis, format_analysis, parse_analysis
from meijin.game.records.decisions import format_decisions, parse_decisions
from meijin.game.records.json import engine_from_json, engine_to_json
from meijin.game.records.record import UNKNOWN_ENGINE, GameRecord, imported_outcome
from meijin.game.records.recorded_turn import opening_actions
from meijin.game.records.sgf_tree import (
    Node,
    SgfError,
    escape,
    escape_composed,
    format_property,
    parse_main_line,
)
from meijin.game.rules.opening_rule import FREE, opening_rule_named
from meijin.game.rules.rule import FREESTYLE
from meijin.game.rules.variant import GOMOKU, GOMOKU_LINE, Variant, rule_named

GAME_TYPE = "4"
"""The number of Gomoku and Renju in SGF."""

_LETTERS = {Color.BLACK: "B", Color.WHITE: "W"}
_FORFEIT = "F"
_CAUSES = {"R": Ending.RESIGN, "T": Ending.TIME}
_SPENT = re.compile(r"([0-9.]+) s\b")
_RAW = re.compile(r"raw ([0-9.]+) s")


def to_sgf(record: GameRecord) -> str:
    """Write a record as one SGF game, a line per move."""
    root = [
        format_property(name, [escape(value)]) for name, value in _root_properties(record) if value
    ]
    notes = [escape_composed(name, value) for name, value in _notes(record) if value]
    if notes:
        root.append(format_property("MJ", notes))
    lines = [f"(;{''.join(root)}", *_move_lines(record)]
    return "\n".join(lines) + ")\n"


def _root_properties(record: GameRecord) -> Iterator[tuple[str, str]]:
    variant, start = record.variant, record.start_time
    yield "FF", "4"
    yield "GM", GAME_TYPE
    yield "CA", "UTF-8"
    yield "AP", "Meijin"
    square = variant.width == variant.height
    yield "SZ", str(variant.width) if square else f"{variant.width}:{variant.height}"
    yield "RU", variant.rule.name
    yield "PB", record.black
    yield "PW", record.white
    yield "EV", record.event
    yield "GN", record.game_id
    yield "RO", str(record.round or "")
    yield "DT", "" if start is None else start.astimezone(UTC).date().isoformat()
    yield from _time_properties(record.time_control)
    if record.outcome is not None:
        yield "RE", _format_result(record.outcome)


def _time_properties(time_control: TimeControl | None) -> Iterator[tuple[str, str]]:
    """Split the written time control: ``60+0.5`` is ``TM[60]OT[+0.5]``."""
    if time_control is None:
        return
    initial = "" if time_control.initial is None else format_seconds(time_control.initial)
    yield "TM", initial
    yield "OT", str(time_control).removeprefix(initial).removeprefix(",").strip()


def _notes(record: GameRecord) -> Iterator[tuple[str, str]]:
    line, plies, outcome = record.variant.line, record.opening_plies, record.outcome
    yield "line", "" if line == GOMOKU_LINE else str(line)
    rule = record.variant.opening_rule
    yield "openingrule", "" if rule == FREE else rule.name
    yield "drawat", "" if record.variant.draw_at is None else str(record.variant.draw_at)
    yield "decisions", format_decisions(record.decisions, record.variant)
    yield "opening", str(plies) if plies else ""
    yield "start", "" if record.start_time is None else record.start_time.isoformat()
    yield "end", "" if record.end_time is None else record.end_time.isoformat()
    yield "black", record.black_version
    yield "white", record.white_version
    control = record.white_time_control
    yield "whiteclock", "" if control is None else str(control)
    for color, engine in (("black", record.black_engine), ("white", record.white_engine)):
        yield f"{color}engine", "" if engine == UNKNOWN_ENGINE else engine_to_json(engine)
    yield "pair", str(record.pair or "")
    yield "seed", str(record.seed or "")
    yield "release", record.release
    if outcome is not None:
        yield "ending", outcome.ending.value
        yield "fault", outcome.at_fault.value
        yield "detail", outcome.detail


def _format_result(outcome: Outcome) -> str:
    if outcome.ending is Ending.VOID:
        return "Void"
    winner = outcome.winner
    if winner is None:
        return "Draw"
    causes = {ending: letter for letter, ending in _CAUSES.items()}
    cause = causes.get(outcome.ending, _FORFEIT if outcome.ending.is_forfeit else "")
    return f"{_LETTERS[winner]}+{cause}"


def _move_lines(record: GameRecord) -> Iterator[str]:
    said = _decided(record)
    for ply, cell in enumerate(record.moves):
        row, column = divmod(cell, record.variant.width)
        parts = ", ".join(_comment(record, ply))
        words = "; ".join(filter(None, (parts, *said.get(ply + 1, ()))))
        comment = f"C[{words}]" if words else ""
        yield f";{'BW'[ply % 2]}[{COLUMNS[column]}{COLUMNS[row]}]{comment}"


def _decided(record: GameRecord) -> Mapping[int, list[str]]:
    """The decisions of the opening in words for people, by their plies."""
    said = defaultdict[int, list[str]](list)
    for position, action in opening_actions(record) if record.decisions else ():
        player = f"the {position.seat_to_act.name.lower()} player"
        match action:
            case Choose(color):
                said[position.board.ply].append(f"{player} chooses {color.name.lower()}")
            case Declare(count):
                said[position.board.ply].append(f"{player} declares {count} fifths")
            case Offer(cells):
                names = " ".join(cell_name(cell, record.variant) for cell in cells)
                said[position.board.ply].append(f"{player} offers {names}")
    return said


def _comment(record: GameRecord, ply: int) -> Iterator[str]:
    if record.times:
        yield f"{format_seconds(record.times[ply])} s"
    if record.raw_times:
        yield f"raw {format_seconds(record.raw_times[ply])} s"
    analysis = record.analysis[ply] if record.analysis else None
    if analysis is not None:
        yield from format_analysis(analysis, record.variant)


def from_sgf(text: str) -> GameRecord:
    """Read the main line of the first game; unknown properties are passed over.

    What other programs write is understood as follows. No ``RU`` is freestyle. A date is
    midnight UTC. A win without a cause is a five where the board shows one, and otherwise,
    like a forfeit without a reason, an adjudication. A time control or a result that isn't
    understood counts as unknown. Times count if every move has one.

    Raises:
        SgfError: the text is no SGF, is of another game, or its moves are no legal game.
    """
    nodes = parse_main_line(text)
    root = nodes[0]
    try:
        notes = _read_notes(root)
        variant = _read_variant(root, notes)
        board = _replay(nodes, variant)
        comments = [_read_comment(node, variant) for node in nodes if _has_move(node)]
        return GameRecord(
            variant=variant,
            black=root.text("PB") or "",
            white=root.text("PW") or "",
            moves=tuple(board.moves),
            times=_if_whole([comment.spent for comment in comments]),
            raw_times=_if_whole([comment.raw for comment in comments]),
            analysis=tuple(comment.analysis for comment in comments),
            opening_plies=int(notes.get("opening", "0")),
            time_control=_read_time_control(root),
            outcome=_read_outcome(root.text("RE") or "", notes, board),
            start_time=_read_start(root, notes),
            end_time=datetime.fromisoformat(notes["end"]) if "end" in notes else None,
            event=root.text("EV") or "",
            game_id=root.text("GN") or "",
            decisions=parse_decisions(notes.get("decisions", ""), variant),
            black_version=notes.get("black", ""),
            white_version=notes.get("white", ""),
            white_time_control=TimeControl.parse(notes["whiteclock"])
            if "whiteclock" in notes
            else None,
            black_engine=engine_from_json(notes.get("blackengine", "{}")),
            white_engine=engine_from_json(notes.get("whiteengine", "{}")),
            pair=int(notes.get("pair", "0")),
            round=_read_round(root.text("RO") or ""),
            seed=int(notes.get("seed", "0")),
            release=notes.get("release", ""),
        ).checked()
    except SgfError:
        raise
    except ValueError as error:
        raise SgfError(str(error), root.offset) from error


def _read_notes(root: Node) -> Mapping[str, str]:
    pairs = (value.partition(":") for value in root.properties.get("MJ", ()))
    return {name: value for name, _, value in pairs}


def _read_variant(root: Node, notes: Mapping[str, str]) -> Variant:
    game_type = (root.text("GM") or GAME_TYPE).strip()
    if game_type != GAME_TYPE:
        raise ValueError(f"GM[{game_type}] is another game; Gomoku is GM[{GAME_TYPE}]")
    width, _, height = (root.text("SZ") or str(GOMOKU.width)).partition(":")
    return Variant(
        rule=rule_named((root.text("RU") or FREESTYLE.name).strip().lower()),
        width=int(width),
        height=int(height or width),
        line=int(notes.get("line", GOMOKU_LINE)),
        opening_rule=opening_rule_named(notes.get("openingrule", FREE.name)),
        draw_at=int(notes["drawat"]) if "drawat" in notes else None,
    )


def _replay(nodes: list[Node], variant: Variant) -> Board:
    board = Board(variant)
    for node in nodes:
        try:
            _play_node(node, board)
        except ValueError as error:
            raise SgfError(str(error), node.offset) from error
    return board


def _has_move(node: Node) -> bool:
    return any(letter in node.properties for letter in _LETTERS.values())


def _play_node(node: Node, board: Board) -> None:
    """Play the move of a node, if it has one."""
    for name in ("AB", "AW", "AE"):
        if name in node.properties:
            raise ValueError(f"{name} sets stones up; a record needs the order of the moves")
    letter = _LETTERS[board.side_to_move]
    if _LETTERS[board.side_to_move.other] in node.properties:
        raise ValueError(f"the move of ply {board.ply} is not {letter}'s")
    point = node.text(letter)
    if point is not None:
        board.play(_read_point(point.strip(), board.variant))


def _read_point(point: str, variant: Variant) -> int:
    """Read two letters, column and row from the top left."""
    if len(point) != 2 or not set(point) <= set(COLUMNS):  # noqa: PLR2004 - a pair
        raise ValueError(f'"{point}" is no point; passes are none either')
    return cell_at(COLUMNS.index(point[0]), COLUMNS.index(point[1]), variant)


@dataclass(frozen=True, slots=True)
class _Comment:
    """What the comment of a move says."""

    spent: timedelta | None
    raw: timedelta | None
    analysis: Analysis | None


def _read_comment(node: Node, variant: Variant) -> _Comment:
    text, _, _ = (node.text("C") or "").partition("; ")  # then come words for people
    parts = text.split(", ")
    try:
        spent = _SPENT.match(text)
        raw = next(filter(None, map(_RAW.fullmatch, parts)), None)
        return _Comment(
            spent=None if spent is None else parse_seconds(spent[1]),
            raw=None if raw is None else parse_seconds(raw[1]),
            analysis=parse_analysis(parts, variant),
        )
    except ValueError as error:
        raise SgfError(str(error), node.offset) from error


def _if_whole(times: list[timedelta | None]) -> tuple[timedelta, ...]:
    """Times of all moves, or none."""
    known = [time for time in times if time is not None]
    return tuple(known) if len(known) == len(times) else ()


def _read_round(text: str) -> int:
    """Read a round; 0 for one that is no plain number, as other programs write it."""
    return int(text) if text.isdecimal() else 0


def _read_time_control(root: Node) -> TimeControl | None:
    initial, overtime = (root.text("TM") or "").strip(), (root.text("OT") or "").strip()
    between = "," if initial and overtime and not overtime.startswith(("+", "cpu")) else ""
    for text in (f"{initial}{between}{overtime}", initial):
        try:
            return TimeControl.parse(text)
        except ValueError:
            continue
    return None


def _read_start(root: Node, notes: Mapping[str, str]) -> datetime | None:
    if "start" in notes:
        return datetime.fromisoformat(notes["start"])
    try:
        day = date.fromisoformat((root.text("DT") or "").strip())
    except ValueError:
        return None
    return datetime.combine(day, time(), UTC)


def _read_outcome(text: str, notes: Mapping[str, str], board: Board) -> Outcome | None:
    text = text.strip().upper()
    result = _read_result(text)
    if result is None:
        return None
    ending = Ending(notes["ending"]) if "ending" in notes else _CAUSES.get(text[2:3])
    if ending is None and result is Result.NONE:
        ending = Ending.VOID
    if ending is not None and (result is Result.NONE) != (ending is Ending.VOID):
        raise ValueError(f'the result "{result.value}" can\'t end in "{ending.value}"')
    found = imported_outcome(result.winner, board, ending)
    at_fault = Party(notes["fault"]) if "fault" in notes else found.at_fault
    return replace(found, at_fault=at_fault, detail=notes.get("detail", ""))


def _read_result(text: str) -> Result | None:
    if text in {"0", "DRAW"}:
        return Result.DRAW
    if text == "VOID":
        return Result.NONE
    winners = {letter: color for color, letter in _LETTERS.items()}
    if text[1:2] != "+" or text[0] not in winners:
        return None
    return Result.won_by(winners[text[0]])
