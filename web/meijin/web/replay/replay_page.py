"""A game as one page of HTML that replays it, without a network and without a library."""

from __future__ import annotations

import html
from functools import cache
from importlib.resources import files
from typing import Any

from meijin.game import FREE, GameRecord
from meijin.game.records.json import json_object
from meijin.game.records.recorded_turn import recorded_clocks
from meijin.web.replay.page_parts import embedded, filled, policy


def replay_page(record: GameRecord) -> str:
    """The page, which shows the end of the game, or the ply of its fragment, such as ``#12``.

    Names and texts come from bots. They stand in the page as JSON in which nothing can end the
    element, the script writes them as text, and the page's policy lets no other script run.
    """
    style, script = _part("css"), _part("js")
    parts = {
        "policy": policy(style, script),
        "title": html.escape(f"{record.black} - {record.white}"),
        "style": style,
        "data": embedded(_data(record)),
        "script": script,
    }
    return filled(_part("html"), parts)


@cache
def _part(ending: str) -> str:
    return files("meijin.web.replay").joinpath(f"replay_page.{ending}").read_text("utf-8")


def _data(record: GameRecord) -> dict[str, Any]:
    return {
        "game": json_object(record),
        "width": record.variant.width,
        "height": record.variant.height,
        "clocks": _clocks(record),
        "end": _end(record),
    }


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
