"""Road: the time that a bot is charged for and did not take itself, and a warning of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from meijin.bots.sdk.position import Position
from meijin.wire import move_time

LOST_SHARE = 0.1
"""A move that loses more of its time than this is warned of."""
LEAST_US = 20_000
"""Less is what a busy processor takes now and then."""
QUIET_SECONDS = 60.0
"""Between two warnings, in however many games."""
_MICROSECONDS = 1_000_000

logger = logging.getLogger("meijin.bots")


class Road:
    """Warns of time lost on the road: once in a game, and once a minute in all of them.

    The road is all that the bot itself does not measure: the network both ways, and turns that
    wait to be read because the bot blocks its event loop.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._warned: set[str] = set()
        self._quiet_until = -1.0

    def note(self, position: Position) -> None:
        """Look at what the last answer has lost, and warn if it was much."""
        lost_us, charge = position.lost_us, position.last_charge
        if lost_us < LEAST_US or charge is None or position.game_id in self._warned:
            return
        usual = move_time(position.time_control).total_seconds()
        if lost_us < usual * LOST_SHARE * _MICROSECONDS or self._clock() < self._quiet_until:
            return
        self._quiet_until = self._clock() + QUIET_SECONDS
        self._warned.add(position.game_id)
        logger.warning(
            "game %s: %.3f s of the %.3f s charged for the last move were lost on the road, where a "
            "move has %.3f s (%.3f s more were credited as lag); run the bot nearer to the server, "
            "keep that much back of its time, and don't block its event loop",
            position.game_id,
            lost_us / _MICROSECONDS,
            charge.charged_us / _MICROSECONDS,
            usual,
            charge.lag_us / _MICROSECONDS,
        )

    def forget(self, game_id: str) -> None:
        """A game is over."""
        self._warned.discard(game_id)
