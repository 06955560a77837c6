"""Looks of the scheduler over random histories, held against a walk through everything."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Collection, Iterator
from datetime import timedelta

import pytest
from tests.server.rows import tournament_row
from tests.server.tournaments.hall import BLITZ, NAMES, Hall

from meijin.game import Color, Ending, Outcome, Party, TimeControl
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.lobby import Player
from meijin.server.tournaments import scheduler as looks
from meijin.server.tournaments.formats.challenge import ChallengeFormat
from meijin.server.tournaments.formats.schedule import RoundRobin
from meijin.server.tournaments.pending import PendingPairings
from meijin.server.tournaments.run import TournamentRun, run_of
from meijin.store.schema import PERSON_PREFIX, BotId, LadderId, PairingId, TournamentId
from meijin.store.tournaments import PendingPairing
from meijin.wire.capabilities import Capabilities

BOTS = range(1, 10)
PERSON = BotId(9)
FAST = TimeControl.parse("1")
OUTCOMES = (
    Outcome(Ending.VOID, None, Party.SERVER),
    Outcome(Ending.FIVE, Color.BLACK),
    Outcome(Ending.TIME, Color.WHITE, Party.BLACK),
)


class Walk:
    """A look that walks through all bots and all planned games, and starts nothing."""

    def __init__(self, hall: Hall, planned: dict[TournamentId, list[PendingPairing]]) -> None:
        self._hall = hall
        self._planned = planned
        self._turn_of_others: set[BotId] = set()

    def look(self) -> list[PairingId]:
        """What is to start, in order; it is planned no more."""
        players = self._hall.players
        self._here = {key: each for key, each in players.items() if each.session is not None}
        self._games = {
            key: [run_of(game) for game in players[key].games.values()] for key in players
        }
        self._running = {run.id: run.running for run in self._hall.scheduler.runs.values()}
        self._found: list[PairingId] = []
        runs = list(self._hall.scheduler.runs.values())
        casual = [run for run in runs if run.format.IS_CASUAL]
        rested = self._here.keys() - self._turn_of_others
        for run in casual:
            self._fill(run, rested)
        for run in runs:
            if not run.format.IS_CASUAL:
                self._fill(run, self._here)
        if casual:
            self._turn_of_others &= {key for key in self._here if self._room(key) <= 0}
            for run in casual:
                self._fill(run, self._here)
        return self._found

    def _fill(self, run: TournamentRun, bots: Collection[BotId]) -> None:
        while not run.row.max_games or self._running[run.id] < run.row.max_games:
            pairing = self._first(run, bots)
            if pairing is None:
                break
            self._planned[run.id].remove(pairing)
            self._found.append(pairing.id)
            self._running[run.id] += 1
            for bot in (pairing.black_id, pairing.white_id):
                self._games[bot].append(run)
                if not run.format.IS_CASUAL:
                    self._turn_of_others.discard(bot)
                elif bot != PERSON:
                    self._turn_of_others.add(bot)

    def _first(self, run: TournamentRun, bots: Collection[BotId]) -> PendingPairing | None:
        """The game to start; those of two bots are ranked by the first of them that is planned."""
        ranks: dict[frozenset[BotId], int] = {}
        found: list[tuple[int, int, PendingPairing]] = []
        for place, pairing in enumerate(self._planned[run.id]):
            both = frozenset((pairing.black_id, pairing.white_id))
            rank = ranks.setdefault(both, place)
            if all(bot in bots and self._takes(bot, run, pairing) for bot in both):
                found.append((rank, place, pairing))
        return min(found)[2] if found else None

    def _takes(self, bot: BotId, run: TournamentRun, pairing: PendingPairing) -> bool:
        session = self._here[bot].session
        assert session is not None
        if self._hall.scheduler.pauses.is_paused(session.version_id):
            return False
        if run.row.ladder_id is not None and not session.may_be_rated:
            return False
        controls = (BLITZ, pairing.time_control or BLITZ)
        if any(session.capabilities.objection(run.row.variant, control) for control in controls):
            return False
        if not run.format.IS_CASUAL:
            return bot != PERSON and self._room(bot) > 0
        most = session.capabilities.max_games
        casual = sum(each.format.IS_CASUAL for each in self._games[bot])
        return min(self._room(bot), (most if bot == PERSON else (most + 1) // 2) - casual) > 0

    def _room(self, bot: BotId) -> int:
        session = self._here[bot].session
        assert session is not None
        return session.capabilities.max_games - len(self._games[bot])


class History:
    """What happens at random, and which games start by it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.hall = Hall(most_faults=3)
        self.started: list[PairingId] = []
        self.expected: list[PairingId] = []
        self._ids = itertools.count(1)
        self._uncommitted: list[LiveGame] = []
        self._planned: dict[TournamentId, list[PendingPairing]] = {}
        self._walk = Walk(self.hall, self._planned)

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Note what starts, and before each look what should."""
        start, look = self.hall.games.start, self.hall.scheduler._look

        def noted(
            run: TournamentRun, pairing: PendingPairing, first: Player, second: Player
        ) -> None:
            self.started.append(pairing.id)
            start(run, pairing, first, second)

        def walked() -> Iterator[int]:
            self.expected += self._walk.look()
            return look()

        monkeypatch.setattr(self.hall.games, "start", noted)
        monkeypatch.setattr(self.hall.scheduler, "_look", walked)

    def step(self) -> None:
        """Let some things happen in one turn of the loop."""
        acts = (self._join, self._leave, self._end, self._add, self._plan, self._stop, self._mend)
        for act in self.rng.choices(acts, weights=(6, 2, 7, 2, 2, 1, 3), k=self.rng.randint(1, 3)):
            act()
        if self.rng.random() < 0.7:
            self._commit()

    def _join(self) -> None:
        bot, rng = self.rng.choice(BOTS), self.rng
        size = 19 if rng.random() < 0.1 else 15
        capabilities = Capabilities(
            min_size=size,
            max_size=size,
            max_games=rng.randint(1, 4),
            min_move_time=timedelta(seconds=rng.choice([0, 0, 1, 2])),
        )
        self.hall.join(bot, capabilities)
        session = self.hall.players[BotId(bot)].session
        assert session is not None
        session.may_be_rated = rng.random() < 0.8

    def _leave(self) -> None:
        if self.hall.players:
            self.hall.leave(self.rng.choice(list(self.hall.players)))

    def _end(self) -> None:
        if self.hall.games.running:
            game = self.rng.choice(list(self.hall.games.running.values()))
            self.hall.games.stop(game, self.rng.choice(OUTCOMES))
            self._uncommitted.append(game)

    def _commit(self) -> None:
        for game in self._uncommitted:
            run = run_of(game)
            assert game.arbiter.outcome is not None
            if game.arbiter.outcome.ending is Ending.VOID and run.is_playing:
                self._planned[run.id].append(game.pairing)
            self.hall.games.commit(game)
        self._uncommitted.clear()

    def _add(self) -> None:
        if len(self.hall.scheduler.runs) > 7:
            return
        pairings = [self._pairing() for _ in range(self.rng.randint(0, 12))]
        form = self.rng.choice((RoundRobin, ChallengeFormat))
        run = TournamentRun(
            row=tournament_row(
                next(self._ids),
                max_games=self.rng.choice([0, 0, 1, 3]),
                ladder_id=self.rng.choice([None, None, LadderId(1)]),
            ),
            format=form(10**6),
            pending=PendingPairings(pairings),
        )
        self._planned[run.id] = pairings
        self.hall.scheduler.add(run)

    def _pairing(self) -> PendingPairing:
        number = next(self._ids)
        black, white = self.rng.sample(BOTS, 2)
        control = self.rng.choice([None, None, None, FAST])
        return PendingPairing(
            PairingId(number), number, BotId(black), BotId(white), b"", time_control=control
        )

    def _plan(self) -> None:
        runs = list(self.hall.scheduler.runs.values())
        if runs:
            run = self.rng.choice(runs)
            pairings = [self._pairing() for _ in range(self.rng.randint(1, 4))]
            self._planned[run.id] += pairings
            self.hall.scheduler.plan(run, pairings)

    def _stop(self) -> None:
        runs = list(self.hall.scheduler.runs.values())
        if not runs:
            return
        run = self.rng.choice(runs)
        if self.rng.random() < 0.5:
            self.hall.scheduler.cancel(run)
        else:
            self.hall.scheduler.suspend(run.id)

    def _mend(self) -> None:
        here = [each for each in self.hall.players.values() if each.session is not None]
        if not here:
            return
        player = self.rng.choice(here)
        assert player.session is not None
        if self.rng.random() < 0.5:
            player.session.may_be_rated = not player.session.may_be_rated
            self.hall.scheduler.bot_changed(player.bot_id)
        else:
            self.hall.scheduler.lift_pauses(player.bot_id, [player.session.version_id])


@pytest.mark.parametrize("turn_us", [looks.LONGEST_TURN_US, 1])
@pytest.mark.parametrize("seed", range(6))
async def test_what_starts_is_what_a_walk_through_everything_starts(
    monkeypatch: pytest.MonkeyPatch, seed: int, turn_us: int
) -> None:
    """In the same order, also where a look takes many turns of the loop."""
    monkeypatch.setitem(NAMES, PERSON, f"{PERSON_PREFIX}eve")
    monkeypatch.setattr(looks, "LONGEST_TURN_US", turn_us)
    history = History(seed)
    history.watch(monkeypatch)
    for _ in range(400):
        history.step()
        history.expected.clear()
        history.started.clear()
        for _ in range(60):
            await asyncio.sleep(0)
        assert history.started == history.expected
