"""A game as one page of HTML that replays it, without a network and without a library."""

from __future__ import annotations

import html
import re
from functools import cache
from importlib.resources import files
from typing import Any

from meijin.game import FREE, Color, Ending, GameRecord, Outcome, winning_lines
from meijin.game.records.json import json_object
from meijin.game.records.recorded_turn import recorded_clocks
from meijin.web.replay.page_parts import embedded, filled, policy
from meijin.web.wording import text

STYLES = ("static/site.css", "static/board.css", "static/game.css")
MODULES = ("static/board_words.js", "static/board.js")
"""Each before those that import it; the cursor, which only a board to play on has, is left out."""
RESULTS = {
    Color.BLACK: "labels.black_wins",
    Color.WHITE: "labels.white_wins",
    None: "labels.drawn",
}


def replay_page(record: GameRecord) -> str:
    """The page, which shows the end of the game, or the ply of its fragment, such as ``#12``.

    Names and texts come from bots. They stand in the page as JSON in which nothing can end the
    element, the script writes them as text, and the page's policy lets no other script run.
    """
    style, script = _style(), _script()
    parts = {
        "policy": policy(style, script),
        "title": html.escape(f"{record.black} {_result(record.outcome)} {record.white}"),
        "style": style,
        "data": embedded(_data(record)),
        "script": script,
    }
    return filled(_read("replay/replay_page.html"), parts)


@cache
def _read(name: str) -> str:
    return files("meijin.web").joinpath(name).read_text("utf-8")


@cache
def _style() -> str:
    """That of the game's page, but for its typeface, which is a file of its own."""
    sheets = (*STYLES, "replay/replay_page.css")
    return re.sub(r"@font-face \{.*?\}\n", "", "".join(map(_read, sheets)), flags=re.DOTALL)


@cache
def _script() -> str:
    """The board's modules and the page's own script, as one without imports."""
    own = _read("replay/replay_page.js")
    return f'"use strict";\n{"".join(map(_module, MODULES))}{own}'


def _module(name: str) -> str:
    """A module as a function that returns what it exports."""
    code = re.sub(r"^import .*\n", "", _read(name), flags=re.MULTILINE)
    exported = ", ".join(re.findall(r"^export (?:class|const|function) (\w+)", code, re.MULTILINE))
    body = re.sub("^export ", "", code, flags=re.MULTILINE)
    return f"const {{ {exported} }} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _data(record: GameRecord) -> dict[str, Any]:
    return {
        "game": json_object(record),
        "width": record.variant.width,
        "height": record.variant.height,
        "clocks": _clocks(record),
        "winning": [] if _is_void(record.outcome) else winning_lines(record.board()),
        "result": _result(record.outcome),
        "end": _end(record),
    }


def _result(outcome: Outcome | None) -> str:
    if outcome is None:
        return text("labels.running")
    return text("labels.void") if _is_void(outcome) else text(RESULTS[outcome.winner])


def _is_void(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.ending is Ending.VOID


def _end(record: GameRecord) -> str:
    outcome = record.outcome
    if outcome is None:
        return "The game has no result."
    return f"{outcome} ({outcome.detail})" if outcome.detail else str(outcome)


def _clocks(record: GameRecord) -> list[list[int]] | None:
    """Microseconds on both sides' clocks before every ply and at the end, if they are known.

    What the decisions of an opening took is not.
    """
    if record.time_control is None or record.time_control.initial is None or not record.times:
        return None
    if record.variant.opening_rule != FREE:
        return None
    return [[black // 1000, white // 1000] for black, white in recorded_clocks(record)]
