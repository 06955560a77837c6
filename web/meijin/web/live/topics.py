"""Topics: what may be watched, as an address names it."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from meijin.v1 import game_service_pb2 as pb
from meijin.web.refusals import bad_request

GRID_RATE, GAME_RATE = 2.0, 4.0
"""Frames a second: of many boards, and of one that somebody looks at."""

GRID_GAMES = 36
"""Boards of a grid."""

MAX_HELD = 2000
"""Messages that are held back at once by a delay: a long one has fewer frames a second."""

_NAME = re.compile(r"arena|(?P<kind>game|tournament):(?P<id>[1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class Topic:
    """What may be watched: one game, the games of a tournament, or all."""

    name: str
    """``game:17``, ``tournament:3`` or ``arena``."""
    game_id: str = ""
    tournament_id: str = ""

    @classmethod
    def parse(cls, name: str) -> Self:
        """Read a topic's name.

        Raises:
            Refusal: there is no such topic.
        """
        found = _NAME.fullmatch(name)
        if found is None:
            shown = name[:40]
            raise bad_request(f'no topic "{shown}"; there are game:17, tournament:3 and arena')
        game_id = found["id"] if found["kind"] == "game" else ""
        tournament_id = found["id"] if found["kind"] == "tournament" else ""
        return cls(name, game_id, tournament_id)

    def request(self, delay: timedelta) -> pb.WatchArenaRequest:
        """What is asked of the server, to be held back for a while."""
        rate = GAME_RATE if self.game_id else GRID_RATE
        if delay:
            rate = min(rate, MAX_HELD / delay.total_seconds())
        return pb.WatchArenaRequest(
            max_rate=rate,
            tournament_id=self.tournament_id,
            game_ids=[self.game_id] if self.game_id else (),
            max_games=GRID_GAMES,
        )
