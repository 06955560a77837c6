"""The examination of a hosted program: what the arena asks of it before it is admitted."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from meijin.bots import RandomBot
from meijin.game import TimeControl
from meijin.local.doctor.arena import (
    EXAMINER,
    GRACE,
    DoctorArena,
    ExamGames,
    connected_bot,
    open_arena,
)
from meijin.local.doctor.candidate import Candidate
from meijin.local.doctor.check import Check, CheckFailedError, Status, has_passed
from meijin.local.doctor.evidence import color_of
from meijin.local.doctor.examination import Examination
from meijin.local.doctor.plan import claims_text, control_for
from meijin.wire.capabilities import Capabilities
from meijin.wire.values import outcome_from_proto

LIMIT = timedelta(seconds=180)
"""What the whole examination may take."""
START_LIMIT = timedelta(seconds=60)
"""What the program may take to connect."""
LISTEN = "127.0.0.1:0"
"""Where its relay reaches the server of the examination."""
RANDOM = "random"
"""The opponent of the last two games."""
RANDOM_CONTROL = TimeControl.parse("10+0.1")


@dataclass(frozen=True, slots=True)
class Hello:
    """What a program has said of itself."""

    capabilities: Capabilities
    label: str
    """Of its version; may be empty."""
    configuration: tuple[str, ...]
    """Its options, as ``name=value``."""


@dataclass(frozen=True, slots=True)
class HostedReport:
    """What an examination has found."""

    checks: Sequence[Check]
    hello: Hello | None
    """``None`` for a program that has not connected."""

    @property
    def has_passed(self) -> bool:
        return has_passed(self.checks)


@dataclass
class HostedExamination(Examination):
    """The quick checks of a program in a sandbox, and two games against a random player.

    A relay stands between the program and the server: it says the program's digest, hardware and
    number of games in place of the program, and comes back when its stream is cut. So the digest,
    several games at once and the return after a cut are not looked at. Another start is: the
    program is started whenever a game wants it. What does not end at SIGTERM is ended with the
    sandbox, and no more than a warning.
    """

    longest_move = timedelta(seconds=10)
    time_fix = "have it move faster, or claim fewer rules and a lower min_move_time"
    connect_fix = "connect to the address in MEIJIN_SERVER, a Unix socket; no token is needed"
    slow_start = "it is started whenever a game wants it, and its opponent waits"
    wraps_engine: bool = False
    """The program is an engine behind the bridge."""
    hello: Hello | None = field(default=None, init=False)
    """``None`` before it has connected."""

    @property
    def _is_engine(self) -> bool:
        return self.wraps_engine

    def _steps(self) -> Iterator[tuple[str, Callable[[], Check]]]:
        yield from super()._steps()
        yield "second start", self._second_start
        yield "against random", self._against_random

    def _hello(self) -> Check:
        """What the hello says, but for what the relay says in its place."""
        *_, version = self.arena.versions()
        self.hello = Hello(self._claims, version.version, tuple(version.configuration))
        label = version.version or "(no label)"
        return Check(f"version {label}, plays {claims_text(self._claims)}")

    def _games_at_once(self) -> Check:
        return Check("a hosted program plays one game at once", status=Status.SKIP)

    def _cut_stream(self) -> Check:
        reason = "the arena's relay holds its stream, and comes back in its place"
        return Check(reason, status=Status.SKIP)

    def _second_start(self) -> Check:
        """The program starts again where it was stopped, as it will between games."""
        arena = self.arena
        arena.candidate.stop()
        if not arena.wait_until(lambda: not arena.bot().connected, min(GRACE, self._time_left)):
            fix = "open no stream but the one of the program's own process"
            raise arena.failure("its stream was open when it had been stopped", fix)
        seconds = self._start()
        return Check(f"it said hello again {seconds:.1f} s after its start")

    def _against_random(self) -> Check:
        """Two games to their end, one with either colour."""
        control = control_for(self._claims, RANDOM_CONTROL, 1)
        cells = self._variant.cells
        planned = ExamGames(self._variant, control, opponent=RANDOM, most_plies=cells)
        games = self._finish(self.arena.begin(planned), planned.limit)
        own = [color_of(game, self.arena.name) for game in games]
        winners = [outcome_from_proto(game.outcome).winner for game in games]
        won = sum(color is winner for color, winner in zip(own, winners, strict=True))
        return Check(f"{len(games)} games at {control} to their end, of which it won {won}")

    def _leaves(self) -> Check:
        """The program ends when it is told to; what does not is ended with its sandbox."""
        try:
            return super()._leaves()
        except CheckFailedError as error:
            return replace(error.check, status=Status.WARN)


@contextmanager
def hosted_arena(candidate: Candidate, name: str) -> Iterator[DoctorArena]:
    """An arena with a random player beside the examiner, as a `HostedExamination` needs it."""
    with (
        open_arena(candidate, name=name, listen=LISTEN) as arena,
        connected_bot(arena.connection, RandomBot(), RANDOM),
    ):
        yield arena


def examine_hosted(
    candidate: Candidate,
    *,
    name: str,
    told: Callable[[Check], None],
    wraps_engine: bool = False,
    start_limit: timedelta = START_LIMIT,
    limit: timedelta = LIMIT,
) -> HostedReport:
    """Examine a program that the arena is to run, on a server of the examination's own.

    The server ends with the thread that calls this; the candidate is stopped on the way out.

    Args:
        candidate: What is examined; it is started several times.
        name: The bot's.
        told: Takes each check when it is made.
        wraps_engine: It is an engine behind the bridge, whose author is told in its terms.
        start_limit: What the program may take to connect.
        limit: What all checks may take; those that were not made by then have failed.

    Raises:
        ArenaError: the server of the examination does not come up, or has ended.
    """
    # The opponents have names of their own on that server.
    own_name = f"{name}-2" if name in {EXAMINER, RANDOM} else name
    with hosted_arena(candidate, own_name) as arena:
        examination = HostedExamination(
            arena, start_limit, limit, is_quick=True, tell=told, wraps_engine=wraps_engine
        )
        checks = examination.run()
    return HostedReport(checks, examination.hello)
