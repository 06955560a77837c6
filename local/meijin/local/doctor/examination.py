"""The examination: the checks of a bot in their order, and what hangs on what."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from statistics import median
from typing import ClassVar

from meijin.bots.bridge.settings import WrapSettings
from meijin.game import FREE, OpeningRule, Rule
from meijin.local.doctor.arena import GRACE, DoctorArena, ExamGames
from meijin.local.doctor.check import Check, CheckFailedError, Status
from meijin.local.doctor.engine import EngineExamination
from meijin.local.doctor.evidence import check_games, choosers, move_times, times_text
from meijin.local.doctor.plan import (
    FAST_CONTROL,
    LONG_CONTROL,
    claims_text,
    control_for,
    first_variant,
    rule_variants,
)
from meijin.v1 import bot_service_pb2, game_pb2

MOST_STARTS = 4
"""How often a bot is started whose process ends."""
MOST_AT_ONCE = 8
"""The most games at once that are tried, of however many the bot claims."""
SLOW_START = timedelta(seconds=10)
"""A bot that takes longer to connect is told so."""
SLOW_MOVE, SLOW_FACTOR = 0.5, 5
"""A first move that takes longer than these seconds, and these times what the others do, is told of."""
CUT_PLY = 8
"""With this many stones on the board the stream is cut."""
CUT_TIMEOUT = timedelta(minutes=1)
"""What the bot may take to get there."""
OPENING_GAMES = 6
"""In each seat, against each of the examiner's three choices."""


def digest_of(version: bot_service_pb2.BotVersion) -> str:
    """What the bot has said in its hello; empty where the server has named its version itself."""
    return "" if version.digest.startswith("version:") else version.digest


@dataclass
class Examination:
    """The checks of one bot: each looks at one thing, and raises `CheckFailedError` if it is amiss."""

    arena: DoctorArena
    start_limit: timedelta
    """What the bot may take to connect."""
    limit: timedelta
    """What everything may take; what is not looked at by then has failed."""
    is_quick: bool = False
    """One board under each rule, one start, no fast clock."""
    tell: Callable[[Check], None] = lambda _: None
    """Takes each check when it is made."""
    longest_move: ClassVar[timedelta] = timedelta(days=1)
    """The most that the bot may claim to need for a move."""
    time_fix: ClassVar[str] = "give it more with --limit"
    """What to do where the limit is too short."""
    connect_fix: ClassVar[str] = (
        "connect to the address in MEIJIN_SERVER, with the token in MEIJIN_TOKEN"
    )
    slow_start: ClassVar[str] = "at each restart its running games wait, and are lost after 30 s"
    """What a slow start costs."""
    engine: WrapSettings | None = None
    """How an engine is run whose commands are tried first; ``None`` for other programs."""

    def __post_init__(self) -> None:
        self._checks: list[Check] = []
        self._starts = 0
        self._deadline = time.monotonic() + self.limit.total_seconds()

    def run(self) -> Sequence[Check]:
        """Make all checks; those that hang on one that has failed are skipped.

        An engine is asked by its protocol's commands first, and then plays all games there are.
        """
        if self.engine is not None:
            self._examine_engine(self.engine)
        if not self._make("connects", self._connects):
            return self._checks
        has_played = self._make("hello", self._hello, with_bot=True)
        has_played &= self._make("first game", self._first_game, with_bot=True)
        for name, make in self._steps():
            if has_played or self.engine is not None:
                self._make(name, make, with_bot=True)
            else:
                reason = "not tried before its first games are played"
                self._add(Check(reason, status=Status.SKIP, name=name))
        if self.arena.candidate.is_running:
            self._make("leaves", self._leaves)
        return self._checks

    @property
    def _is_engine(self) -> bool:
        """Whether the program is an engine behind the bridge, whose author is told in its terms."""
        return self.engine is not None

    def _steps(self) -> Iterator[tuple[str, Callable[[], Check]]]:
        for rule in self._claims.rules:
            yield f"rule {rule.name}", partial(self._rule, rule)
        for opening in self._claims.opening_rules:
            if opening != FREE:
                yield f"opening {opening.name}", partial(self._opening, opening)
        if not self.is_quick:
            yield "fast clock", self._fast_clock
        yield "games at once", self._games_at_once
        yield "cut stream", self._cut_stream
        if self.arena.candidate.is_own and not self.is_quick:
            yield "second start", self._second_start

    def _examine_engine(self, settings: WrapSettings) -> None:
        examination = EngineExamination(settings)
        try:
            for name, make in examination.checks():
                self._make(name, make)
        finally:
            examination.close()

    def _make(self, name: str, make: Callable[[], Check], *, with_bot: bool = False) -> bool:
        """Make a check, for which the bot may have to be there; tell whether it has not failed."""
        begun = time.monotonic()
        try:
            self._check_time_left()
            if with_bot:
                self._have_bot()
            check = make()
        except CheckFailedError as error:
            check = error.check
        self._add(replace(check, name=name, seconds=round(time.monotonic() - begun, 3)))
        return check.status is not Status.FAIL

    def _add(self, check: Check) -> None:
        self._checks.append(check)
        self.tell(check)

    def _check_time_left(self) -> None:
        if not self._time_left:
            limit = f"{self.limit.total_seconds():g} s"
            raise CheckFailedError(f"all {limit} are used up", self.time_fix)

    @property
    def _time_left(self) -> timedelta:
        return timedelta(seconds=max(0.0, self._deadline - time.monotonic()))

    def _have_bot(self) -> None:
        """See that the bot is there; one whose process has ended is started again."""
        candidate = self.arena.candidate
        if not candidate.ending:
            return
        if self._starts >= MOST_STARTS:
            fix = "mend what has failed before"
            raise CheckFailedError(f"its process has ended {self._starts} times", fix)
        candidate.stop()
        self._start()

    def _start(self) -> float:
        """Start the bot, and return how many seconds it took to connect."""
        self._starts += 1
        return self.arena.start(min(self.start_limit, self._time_left), self.connect_fix)

    def _connects(self) -> Check:
        seconds = self._start()
        self._read_claims()
        reason = f"it said hello {seconds:.1f} s after its start"
        is_slow = seconds >= SLOW_START.total_seconds() and not self._is_engine
        if not self.arena.candidate.is_own or not is_slow:
            return Check(reason)
        fix = (
            f"make it start faster, such as with tables that are kept in a file: {self.slow_start}"
        )
        return Check(reason, fix, Status.WARN)

    def _read_claims(self) -> None:
        """See what the bot claims, and that some of it can be tried."""
        self._claims = self.arena.capabilities
        if self._claims.min_move_time > self.longest_move:
            needed = f"{self._claims.min_move_time.total_seconds():g} s a move"
            most = f"{self.longest_move.total_seconds():g} s"
            raise CheckFailedError(
                f"it claims to need {needed}, and is examined with at most {most}",
                "claim a lower min_move_time",
            )
        try:
            self._variant = first_variant(self._claims)
        except ValueError as error:
            fix = "claim a rule, an opening rule and sizes that are played together"
            raise CheckFailedError(str(error), fix) from None

    def _hello(self) -> Check:
        """What the hello says, beyond what the server insists on."""
        *_, version = self.arena.versions()
        reason = f"version {version.version or '(no label)'}, plays {claims_text(self._claims)}"
        if not (digest := digest_of(version)):
            fix = (
                "say a digest of the program and its options: without one a changed program "
                "goes on with the rating of the old one"
            )
            return Check(f"{reason}; no digest", fix, Status.WARN)
        return Check(f"{reason}; digest {digest}")

    def _first_game(self) -> Check:
        """Two games of the most usual kind that the bot claims."""
        planned = ExamGames(self._variant, control_for(self._claims))
        times = self._times(self._play(planned, is_blocking=True))
        if not times:
            fix = "play before giving up"
            raise self.arena.failure("it gave up without having made a move", fix)
        reason = f"2 games of {self._variant}; {times_text(times)}"
        if times[0] <= max(SLOW_MOVE, SLOW_FACTOR * median(times)):
            return Check(reason)
        where = "of the engine" if self._is_engine else "(in Python in Bot.prepare)"
        fix = f"load and compile before the hello {where}, not in the first turn: the clock runs there"
        return Check(f"{reason}, the first of all {times[0]:.2f} s", fix, Status.WARN)

    def _rule(self, rule: Rule) -> Check:
        """Games under one rule, on several boards unless it is to be quick."""
        control = control_for(self._claims)
        try:
            variants = rule_variants(self._claims, rule)
        except ValueError as error:
            return Check(str(error), status=Status.SKIP)
        first, *others = variants[:1] if self.is_quick else variants
        games = [*self._play(ExamGames(first, control))]
        for place, variant in enumerate(others):
            games += self._play(ExamGames(variant, control, 1, opponent_first=place % 2 == 1))
        sizes = ", ".join(variant.size for variant in (first, *others))
        moves = len(self._times(games))
        return Check(f"{len(games)} games on {sizes}; {moves} moves, all legal")

    def _opening(self, opening: OpeningRule) -> Check:
        """Games with one opening rule, in which the opponent makes each of its choices."""
        count = 2 if self.is_quick else OPENING_GAMES
        try:
            variant = replace(self._variant, opening_rule=opening)
        except ValueError as error:
            return Check(str(error), status=Status.SKIP)
        games = self._play(ExamGames(variant, control_for(self._claims), count))
        chosen = Counter(name for game in games for name in choosers(game))
        own = chosen.pop(self.arena.name, 0)
        said = f"it chose a side {own} times, the opponent {chosen.total()} times"
        return Check(f"{count} games; {said}")

    def _fast_clock(self) -> Check:
        """Games on the fastest clock that the bot takes, within reason."""
        control = control_for(self._claims, FAST_CONTROL, 1)
        games = self._play(ExamGames(self._variant, control), is_blocking=True)
        return Check(f"2 games at {control}; {times_text(self._times(games))}")

    def _games_at_once(self) -> Check:
        """As many games at once as the bot claims, within reason."""
        at_once = min(self._claims.max_games, MOST_AT_ONCE)
        if at_once == 1:
            return Check("it claims one game at once", status=Status.SKIP)
        planned = ExamGames(self._variant, control_for(self._claims), 2 * at_once, at_once)
        games = self._play(planned, is_blocking=True)
        said = times_text(self._times(games))
        return Check(f"{len(games)} games, {at_once} of them at once; {said}")

    def _cut_stream(self) -> Check:
        """The stream is cut while the opponent thinks, and as the bot's turn is on its way."""
        arena, control = self.arena, control_for(self._claims, LONG_CONTROL, 60)
        arena.examiner.hold(CUT_PLY)
        tournament = arena.begin(ExamGames(self._variant, control, 1))
        try:
            if not arena.wait_until(arena.examiner.is_holding.is_set, CUT_TIMEOUT):
                reason = "the game was over too soon to cut anything"
                return Check(reason, status=Status.SKIP)
            seconds = self._cut()
            arena.link.is_armed = True
        finally:
            arena.examiner.release()
        self._finish(tournament, CUT_TIMEOUT)
        return Check(f"back after {seconds:.1f} s, and played on; its turn was lost on the way too")

    def _cut(self) -> float:
        """Cut the stream, and return how many seconds later the bot is back."""
        arena, begun = self.arena, time.monotonic()
        accepted = arena.link.accepted
        arena.link.cut()
        if not arena.wait_until(
            lambda: arena.link.accepted > accepted and arena.bot().connected, GRACE
        ):
            raise arena.failure(
                f"its stream was cut, and it was not back {GRACE.total_seconds():g} s later",
                "when a stream is lost open another one, say hello with resume_session_id, and "
                "take each game as the server then tells it",
            )
        return time.monotonic() - begun

    def _second_start(self) -> Check:
        """Another start of the same program is the same version."""
        *_, before = self.arena.versions()
        self.arena.candidate.stop()
        seconds = self._start()
        *_, after = self.arena.versions()
        if before.version_id != after.version_id:
            raise CheckFailedError(
                f"its digest was {before.digest}, and is {after.digest} after another start",
                "make the digest of what the program is, with no time and no chance in it: each "
                "new one is a new version, which begins without a rating",
            )
        return Check(f"the same version, {seconds:.1f} s after its start")

    def _leaves(self) -> Check:
        """The program ends when it is told to, with all that it has started."""
        ended = self.arena.candidate.stop()
        if ended.was_killed:
            fix = "end at SIGTERM, with a goodbye if no game is running"
            raise CheckFailedError(f"it ran on {ended.seconds:.0f} s after SIGTERM", fix)
        if ended.left:
            fix = "end the processes that the bot has started before it ends itself"
            raise CheckFailedError(f"it left behind: {', '.join(ended.left)}", fix)
        return Check(f"it ended {ended.seconds:.1f} s after SIGTERM, and left nothing behind")

    def _play(self, games: ExamGames, *, is_blocking: bool = False) -> Sequence[game_pb2.Game]:
        self.arena.examiner.is_blocking = is_blocking
        return self._finish(self.arena.begin(games), games.limit)

    def _finish(self, tournament: str, limit: timedelta) -> Sequence[game_pb2.Game]:
        """Games that were played to their end, none of which the bot has forfeited."""
        try:
            played = self.arena.finish(tournament, min(limit, self._time_left))
        except CheckFailedError:
            self._check_time_left()
            raise
        output = self.arena.candidate.last_lines
        check_games(played, self.arena.name, output, is_engine=self._is_engine)
        return played

    def _times(self, games: Sequence[game_pb2.Game]) -> list[float]:
        return move_times(games, self.arena.name)
