"""A server as its clients see it, an arena of one's own, and matches played from a program.

- `connection`: a server to talk to, and the ways to call it
- `server`, `worker`, `bots`: a server, what plays beside it, and bots as child processes; `child` is
  one of these
- `sides`: the players of a local match, as people write them
- `arena`: a server to play matches on, and matches played on it
- `match_settings`, `match_play`, `match_result`: what a match is to be, how it is played, and what
  it came to
- `first_fault`: the first game that a bot has forfeited, and why
- `tuning`: better values for the numbers that a side is given
- `doctor`: the examination of a bot, by games on a server of its own
- `analyser`, `position_files`: positions searched by a bot, and where they come from
- `game_tables`: games as tables for statistics, in files and in memory
- `errors`: what can't be carried out, in one line, and what an installation lacks
"""

import os
from typing import TYPE_CHECKING

# Read when grpc is first imported; else its C core tells of every stream that a server ends.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

if TYPE_CHECKING:
    from meijin.local.arena import Arena, play_match
    from meijin.local.errors import ArenaError, BotLostError
    from meijin.local.match_result import Advantage, MatchResult, TestDecision

__all__ = [
    "Advantage",
    "Arena",
    "ArenaError",
    "BotLostError",
    "MatchResult",
    "TestDecision",
    "play_match",
]

_PLACES = {
    "Advantage": "match_result",
    "Arena": "arena",
    "ArenaError": "errors",
    "BotLostError": "errors",
    "MatchResult": "match_result",
    "TestDecision": "match_result",
    "play_match": "arena",
}
"""Modules are imported when they are asked for: a command that reads a list needs few of them."""


def __getattr__(name: str) -> object:
    """Import what the package offers."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - with the others

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
