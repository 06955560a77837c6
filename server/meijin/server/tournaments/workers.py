"""Workers: they come, play what is leased to them, hand it in, and go."""

from collections.abc import Sequence

import structlog

from meijin.server.errors import InvalidRequestError
from meijin.server.match.games import Games
from meijin.server.match.live.commands import PlayedGame
from meijin.server.match.live.live_game import LiveGame
from meijin.server.tournaments.leases import Lease, Worker
from meijin.server.tournaments.scheduler import Scheduler

log = structlog.get_logger()


class Workers:
    """Has the scheduler lease games to workers, and the match keep what they hand in."""

    def __init__(self, scheduler: Scheduler, games: Games) -> None:
        self._scheduler = scheduler
        self._leases = scheduler.leases
        self._games = games

    def join(self, worker: Worker) -> None:
        names = [side.participant.name for side in worker.sides.values()]
        log.info("worker joined", worker=worker.id, bots=names, room=worker.room)
        self._leases.add(worker)
        self._scheduler.worker_changed(worker)

    def leave(self, worker: Worker) -> None:
        """What it has not handed in is played by others, or later."""
        self._leases.remove(worker)
        for lease in worker.leased.values():
            lease.run.leased -= 1
            if lease.run.is_playing:
                lease.run.pending.add(lease.pairing)
        log.info("worker left", worker=worker.id, leased=len(worker.leased))
        worker.leased.clear()
        self._scheduler.wake()

    def hand_in(self, worker: Worker, pair: Sequence[PlayedGame]) -> None:
        """Have games committed that a worker has played, together; those not leased are dropped.

        Raises:
            InvalidRequestError: the rules contradict one of them.
        """
        judged = []
        for played in pair:
            lease = worker.leased.get(played.pairing_id)
            if lease is not None:
                judged.append((lease, self._judge(worker, lease, played)))
        for lease, game in judged:
            if worker.leased.pop(lease.pairing.id, None) is None:
                continue  # the one before has decided the tournament
            lease.run.leased -= 1
            self._scheduler.uncommitted += 1
            self._games.keep(game)

    def offer(self, worker: Worker) -> None:
        """Have it given more, as far as it has room."""
        self._scheduler.worker_changed(worker)

    def _judge(self, worker: Worker, lease: Lease, played: PlayedGame) -> LiveGame:
        first, second = (
            worker.sides[bot_id] for bot_id in (lease.pairing.black_id, lease.pairing.white_id)
        )
        try:
            return self._games.referee(
                lease.run,
                lease.pairing,
                played,
                players=(first.participant, second.participant),
                versions=(first.version_id, second.version_id),
            )
        except InvalidRequestError:
            log.error("a worker's record is refused", worker=worker.id, pairing=lease.pairing.id)
            raise
