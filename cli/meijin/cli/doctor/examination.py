"""The examination: the checks of a bot in their order, and what hangs on what."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TypeAlias

from meijin.cli.doctor import checks
from meijin.cli.doctor.arena import Arena
from meijin.cli.doctor.check import Check, CheckFailedError, Status
from meijin.cli.doctor.checks import Verdict
from meijin.game import FREE
from meijin.wire import Capabilities

MOST_STARTS = 4
"""How often a bot is started whose process ends."""

Step: TypeAlias = "tuple[str, Callable[[], Verdict]]"
"""A check to be made, and its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is looked at."""

    start_limit: timedelta
    """What the bot may take to connect."""
    limit: timedelta
    """What everything may take; what is not looked at by then has failed."""
    is_quick: bool = False
    """One board under each rule, one start, no fast clock."""


class Examination:
    """The checks of one bot; each is told of when it is made."""

    def __init__(self, arena: Arena, scope: Scope, tell: Callable[[Check], None]) -> None:
        self._arena = arena
        self._scope = scope
        self._tell = tell
        self._checks: list[Check] = []
        self._deadline = time.monotonic() + scope.limit.total_seconds()

    def run(self) -> Sequence[Check]:
        """Make all checks; those that hang on one that has failed are skipped."""
        arena, limit = self._arena, self._scope.start_limit
        if not self._make("connects", partial(checks.connects, arena, limit)):
            return self._checks
        claims = arena.capabilities
        has_played = self._make_with_bot("hello", partial(checks.hello, arena))
        has_played &= self._make_with_bot("first game", partial(checks.first_game, arena))
        for name, make in self._steps(claims):
            if has_played:
                self._make_with_bot(name, make)
            else:
                self._add(Check(name, Status.SKIP, "not tried before its first games are played"))
        if arena.candidate.is_running:
            self._make("leaves", partial(checks.leaves, arena))
        return self._checks

    def _steps(self, claims: Capabilities) -> Iterator[Step]:
        """What follows the first games."""
        arena, is_quick = self._arena, self._scope.is_quick
        for rule in claims.rules:
            yield f"rule {rule.name}", partial(checks.rule, arena, rule, is_quick=is_quick)
        for opening in claims.opening_rules:
            if opening != FREE:
                make = partial(checks.opening, arena, opening, is_quick=is_quick)
                yield f"opening {opening.name}", make
        if not is_quick:
            yield "fast clock", partial(checks.fast_clock, arena)
        yield "games at once", partial(checks.games_at_once, arena)
        yield "cut stream", partial(checks.cut_stream, arena)
        if arena.candidate.command and not is_quick:
            limit = self._scope.start_limit
            yield "second start", partial(checks.second_start, arena, limit)

    def _make_with_bot(self, name: str, make: Callable[[], Verdict]) -> bool:
        """Make a check for which the bot has to be there."""

        def make_with_bot() -> Verdict:
            self._have_bot()
            return make()

        return self._make(name, make_with_bot)

    def _make(self, name: str, make: Callable[[], Verdict]) -> bool:
        """Make a check, and tell whether it has not failed."""
        begun = time.monotonic()
        try:
            self._check_time_left()
            verdict = make()
            check = Check(name, verdict.status, verdict.reason, verdict.fix)
        except CheckFailedError as error:
            check = Check(name, Status.FAIL, error.reason, error.fix, error.evidence)
        self._add(replace(check, seconds=round(time.monotonic() - begun, 3)))
        return check.status is not Status.FAIL

    def _add(self, check: Check) -> None:
        self._checks.append(check)
        self._tell(check)

    def _check_time_left(self) -> None:
        if time.monotonic() > self._deadline:
            limit = f"{self._scope.limit.total_seconds():g} s"
            raise CheckFailedError(f"all {limit} are used up", "give it more with --limit")

    def _have_bot(self) -> None:
        """See that the bot is there; one whose process has ended is started again.

        Raises:
            CheckFailedError: it is not, or has ended too often.
        """
        candidate = self._arena.candidate
        if not candidate.ending:
            return
        if candidate.starts >= MOST_STARTS:
            fix = "mend what has failed before"
            raise CheckFailedError(f"its process has ended {candidate.starts} times", fix)
        candidate.stop()
        self._arena.start(self._scope.start_limit)
