"""Topics: what may be watched, as an address names it."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.web.labels import by_word
from meijin.web.refusals import bad_request
from meijin.wire.contract import BOT_NAME

GRID_RATE, GAME_RATE = 2.0, 4.0
"""Frames a second: of many boards, and of one that somebody looks at."""

GRID_GAMES = 36
"""Boards of a grid."""

MAX_HELD = 2000
"""Messages that are held back at once by a delay: a long one has fewer frames a second."""

RULES = {"": game_pb2.RULE_UNSPECIFIED, **by_word(game_pb2.Rule)}
"""By their words."""
RULE_NAMES = {word: word.replace("_", "-") for word in RULES if word}
"""What people call them, by their words."""

_NAME = re.compile(
    r"(?:arena|(?P<kind>game|tournament):(?P<id>[1-9][0-9]{0,17}))"
    rf"(?:/rule:(?P<rule>[a-z_]{{1,20}}))?(?:/bot:(?P<bot>~?{BOT_NAME.pattern}))?"
)


@dataclass(frozen=True, slots=True)
class Topic:
    """What may be watched: one game, the games of a tournament, or all."""

    name: str
    """``game:17``, ``tournament:3`` or ``arena``; of a few of its games ``arena/rule:renju/bot:ada``."""
    game_id: str = ""
    tournament_id: str = ""
    rule: game_pb2.Rule.ValueType = game_pb2.RULE_UNSPECIFIED
    bot: str = ""

    @classmethod
    def parse(cls, name: str) -> Self:
        """Read a topic's name.

        Raises:
            Refusal: there is no such topic.
        """
        found = _NAME.fullmatch(name)
        if found is None or (found["rule"] or "") not in RULES:
            shown = name[:40]
            raise bad_request(f'no topic "{shown}"; there are game:17, tournament:3 and arena')
        game_id = found["id"] if found["kind"] == "game" else ""
        tournament_id = found["id"] if found["kind"] == "tournament" else ""
        return cls(name, game_id, tournament_id, RULES[found["rule"] or ""], found["bot"] or "")

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
            rule=self.rule,
            bot=self.bot,
        )
