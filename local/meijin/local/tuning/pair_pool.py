"""A pool of pairs: games of one side with itself, with other options, on all cores at once."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

from meijin.game import Color, TimeControl, Variant
from meijin.game.openings.deck import OpeningDeck
from meijin.local.child import Child
from meijin.local.errors import ArenaError, BotLostError
from meijin.local.sides import Side
from meijin.local.tuning.parameter import Parameter, tried_values
from meijin.local.tuning.trial import Trial
from meijin.local.worker import WORKER, message_of
from meijin.v1.worker_service_pb2 import LeasedGame, LeasedPair, PlayedGame
from meijin.wire.values import (
    outcome_from_proto,
    time_control_to_proto,
    variant_to_proto,
)
from meijin.worker.plan import Plan
from meijin.worker.pool import player_name
from meijin.worker.slots import FAILED

LOG_FILE = "worker.log"
MARGIN_MS = 50
"""How far a move may overstep its time; the pipe is the only way that it goes."""


class PairFaultsError(ArenaError):
    """A side has forfeited more games by its own faults than were allowed."""

    status = 6


@dataclass(frozen=True, slots=True)
class PairSettings:
    """What is played."""

    variant: Variant
    time: TimeControl
    openings: Sequence[bytes]
    """Empty for the usual ones."""
    max_faults: int
    """0 for any number."""


@dataclass(slots=True)
class PairPool:
    """Plays trials, each on one opening with the colours reversed."""

    connection: Connection
    child: Child
    settings: PairSettings
    seed: int
    _points: dict[int, list[float]] = field(default_factory=dict, init=False)
    """Of plus less those of minus in each game of a pair that is over."""
    _faults: int = field(default=0, init=False)
    _deal: Iterator[bytes] = field(init=False)
    _dealt: list[bytes] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        deck = OpeningDeck.of(self.settings.variant, self.settings.openings)
        self._deal = deck.deal(self.seed, {})

    def play(self, trial: Trial) -> None:
        """Have a trial played as soon as a core is free."""
        plus, minus = player_name("plus", trial.plus), player_name("minus", trial.minus)
        opening = self._opening(trial.number)
        games = [
            self._game(f"{trial.number} 0", plus, minus, opening),
            self._game(f"{trial.number} 1", minus, plus, opening),
        ]
        with suppress(OSError):  # whoever waits for a result is told
            self.connection.send_bytes(LeasedPair(games=games).SerializeToString())

    def result(self) -> tuple[int, float]:
        """Wait until a trial is over: its number and its result.

        Raises:
            BotLostError: the side can't be played.
            PairFaultsError: it has forfeited too many games.
        """
        while True:
            try:
                said = self.connection.recv_bytes()
            except (EOFError, OSError):
                self.child.process.wait()
                raise BotLostError(self._reason()) from None
            if said.startswith(FAILED):
                raise BotLostError(said[len(FAILED) :].decode())
            record = PlayedGame.FromString(said[1:])
            number, game = map(int, record.pairing_id.split())
            points = self._points.setdefault(number, [])
            points.append(self._judged(record, plus=(Color.BLACK, Color.WHITE)[game]))
            if len(points) == len(Color):
                return number, sum(self._points.pop(number))

    def _reason(self) -> str:
        """Why the worker has ended."""
        said = message_of(self.child.last_line)
        if "many" in said:
            return f"{said['many']} plays many games at once, and can't be tuned"
        return said.get("error") or f"the worker ended, {self.child.end}"

    def _opening(self, number: int) -> bytes:
        """That of a trial, by the seed alone; as in a test none comes again before it has to."""
        self._dealt += islice(self._deal, max(0, number + 1 - len(self._dealt)))
        return self._dealt[number]

    def _game(self, game_id: str, black: str, white: str, opening: bytes) -> LeasedGame:
        control = time_control_to_proto(self.settings.time)
        return LeasedGame(
            pairing_id=game_id,
            black=black,
            white=white,
            variant=variant_to_proto(self.settings.variant),
            black_time=control,
            white_time=control,
            opening=opening,
            margin_ms=MARGIN_MS,
        )

    def _judged(self, record: PlayedGame, plus: Color) -> float:
        outcome = outcome_from_proto(record.outcome)
        if outcome.ending.is_forfeit:
            self._faults += 1
            if 0 < self.settings.max_faults < self._faults:
                raise PairFaultsError(
                    f"{self._faults} games were forfeited, and a score says little of strength; "
                    f"the last: {outcome.detail or outcome}; allow more with --max-faults"
                )
        if outcome.winner is None:
            return 0
        return 1 if outcome.winner is plus else -1


@contextmanager
def pair_pool(
    side: Side,
    parameters: Sequence[Parameter],
    settings: PairSettings,
    folder: Path,
    *,
    seed: int,
    games: int,
) -> Iterator[PairPool]:
    """A pool in a process of its own that plays so many games at once, until the end.

    The side is loaded with values of the ranges first: if it refuses one, no game is played.
    """
    plans = [
        replace(side, options={**side.options, **values}).plan(f"{side.own_name}-{name}")
        for name, values in tried_values(parameters).items()
    ]
    plan = Plan("", plans, games, str(folder.resolve()), str(settings.variant))
    path, log = folder / "worker.json", folder / LOG_FILE
    plan.write(path)
    ours, theirs = Pipe()
    with ours, log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [*WORKER, str(path), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            text=True,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        try:
            yield PairPool(ours, Child(process, log), settings, seed)
        finally:
            ours.close()
            with suppress(OSError):  # it has ended
                os.kill(process.pid, signal.SIGTERM)
            process.wait()
