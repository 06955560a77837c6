"""Leases: games that workers play beside the engines, and hand in when they are over."""

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from meijin.game import TimeControl
from meijin.server.match.live.live_game import Participant
from meijin.server.tournaments.run import TournamentRun
from meijin.store.schema import BotId, BotVersionId, PairingId, TournamentId
from meijin.store.tournaments import PendingPairing
from meijin.wire.capabilities import Capabilities


@dataclass(frozen=True, slots=True)
class WorkerSide:
    """A bot that a worker runs by itself."""

    id: str
    """Of the worker: another one may play other games."""
    participant: Participant
    version_id: BotVersionId
    capabilities: Capabilities
    may_be_rated: bool


@dataclass(frozen=True, slots=True)
class Lease:
    """A game that a worker has to play."""

    run: TournamentRun
    pairing: PendingPairing
    time: datetime
    """When it was given."""

    def time_control(self, bot_id: BotId) -> TimeControl:
        return self.pairing.time_control or self.run.row.control_of(bot_id)

    @property
    def pair(self) -> tuple[int, int]:
        """What it shares with the other game on its opening."""
        return self.run.id, (self.pairing.number + 1) // 2


@dataclass(slots=True, eq=False)
class Worker:
    """A worker's stream, with what waits to be sent to it."""

    id: str
    sides: Mapping[BotId, WorkerSide]
    room: int
    """How many games it wants to hold at once."""
    leased: dict[PairingId, Lease] = field(default_factory=dict)
    """What it has not handed in yet."""
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while something waits to be sent."""
    _unsent: deque[Lease] = field(default_factory=deque)
    _withdrawn: list[PairingId] = field(default_factory=list)
    _acknowledged: list[PairingId] = field(default_factory=list)
    _is_told: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once what is acknowledged was taken to be sent."""

    @property
    def free(self) -> int:
        """How many games more it takes."""
        return max(0, self.room - len(self.leased))

    def lease(self, lease: Lease) -> None:
        self.leased[lease.pairing.id] = lease
        self._unsent.append(lease)
        self.wake.set()

    def has_partner(self, lease: Lease) -> bool:
        """Whether the other game of a pair waits to be sent."""
        return bool(self._unsent) and self._unsent[-1].pair == lease.pair

    def withdraw(self, run: TournamentRun) -> None:
        """None of the run's games is needed any more."""
        gone = [key for key, lease in self.leased.items() if lease.run is run]
        for key in gone:
            del self.leased[key]
        self._withdrawn += gone
        self._unsent = deque(lease for lease in self._unsent if lease.run is not run)
        self.wake.set()

    async def acknowledge(self, games: Sequence[PairingId]) -> None:
        """Its records of games are committed, or not needed; wait until it is about to be told.

        So a worker that doesn't read is not read either, and no more waits for it than that.
        """
        self._acknowledged += games
        self._is_told.clear()
        self.wake.set()
        await self._is_told.wait()

    def take_acknowledged(self) -> Sequence[PairingId]:
        acknowledged, self._acknowledged = self._acknowledged, []
        self._is_told.set()
        return acknowledged

    def take_unsent(self, most: int) -> tuple[Sequence[Sequence[Lease]], Sequence[PairingId]]:
        """What is to be sent now: new games, those of a pair together, and those withdrawn.

        Args:
            most: Pairs; what is left wakes the stream again.
        """
        withdrawn, self._withdrawn = self._withdrawn, []
        pairs: dict[tuple[int, int], list[Lease]] = {}
        while self._unsent:
            pair = self._unsent[0].pair
            if pair not in pairs and len(pairs) == most:
                self.wake.set()
                break
            pairs.setdefault(pair, []).append(self._unsent.popleft())
        return list(pairs.values()), withdrawn


class Leases:
    """The workers, and who of them plays what.

    A tournament whose bots are all at one worker, or at each of several, is played by these.
    """

    def __init__(self) -> None:
        self.workers: list[Worker] = []
        self._of_run: dict[TournamentId, Sequence[Worker]] = {}

    def add(self, worker: Worker) -> None:
        self.workers.append(worker)
        self._of_run.clear()

    def remove(self, worker: Worker) -> None:
        self.workers.remove(worker)
        self._of_run.clear()

    def able(self, run: TournamentRun) -> Sequence[Worker]:
        """The workers that have all bots of a run."""
        found = self._of_run.get(run.id)
        if found is None:
            bots = {bot_id for bot_id, _ in run.row.bots}
            is_theirs = bool(bots) and not run.format.IS_CASUAL
            found = [each for each in self.workers if is_theirs and each.sides.keys() >= bots]
            self._of_run[run.id] = found
        return found

    def side(self, run: TournamentRun, bot_id: BotId) -> WorkerSide | None:
        """A bot of a run as its workers have it; ``None`` where no worker plays the run."""
        workers = self.able(run)
        return workers[0].sides.get(bot_id) if workers else None

    def of_bot(self, bot_id: BotId) -> WorkerSide | None:
        """A bot as the first worker that has it brings it."""
        return next((each.sides[bot_id] for each in self.workers if bot_id in each.sides), None)

    def free(self, run: TournamentRun) -> int:
        """How many games more the workers of a run take."""
        return sum(worker.free for worker in self.able(run))

    def lease(self, run: TournamentRun, pairing: PendingPairing) -> None:
        """Have the worker play a game that has most room: the two of a pair go to the same."""
        lease = Lease(run, pairing, datetime.now(UTC))
        workers = self.able(run)
        partners = (each for each in workers if each.free and each.has_partner(lease))
        worker = next(partners, None) or max(workers, key=lambda each: each.free)
        worker.lease(lease)
        run.leased += 1

    def of_run(self, run: TournamentRun) -> Iterator[Lease]:
        """The games of a run that are leased."""
        for worker in self.workers:
            for lease in worker.leased.values():
                if lease.run is run:
                    yield lease

    def withdraw(self, run: TournamentRun) -> None:
        """None of a run's games is needed any more."""
        for worker in self.workers:
            worker.withdraw(run)
        run.leased = 0
        self._of_run.pop(run.id, None)
