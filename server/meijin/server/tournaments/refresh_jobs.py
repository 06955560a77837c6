"""Sending refresh jobs to the ladders' worker when games have ended."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from meijin.server.job_sender import JobSender
from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame
from meijin.store.schema import LadderId

if TYPE_CHECKING:
    from meijin.ladder.job_queue import JobQueue


def _open_queue(url: str) -> "JobQueue":
    # The client of Redis takes 0.18 s of processor time to import, for which no bot waits.
    from meijin.ladder.refresh_queue import RefreshQueue  # noqa: PLC0415

    return RefreshQueue(url)


class RefreshSender(JobSender[LadderId], Listener):
    """Sends a refresh job for each ladder whose games have ended."""

    def __init__(
        self, redis_url: str, open_queue: Callable[[str], "JobQueue"] = _open_queue
    ) -> None:
        super().__init__(redis_url, open_queue)

    def game_ended(self, game: LiveGame) -> None:
        if game.ladder_id is not None:
            self.send(game.ladder_id)
