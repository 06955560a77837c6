"""The checks themselves: each looks at one thing, and raises `CheckFailedError` if it is amiss."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

from meijin.cli.doctor.admission import has_digest
from meijin.cli.doctor.arena import GRACE, Arena
from meijin.cli.doctor.check import CheckFailedError, Status
from meijin.cli.doctor.evidence import check_games, chooser, move_times
from meijin.cli.doctor.plan import (
    MOST_AT_ONCE,
    fast_control,
    first_variant,
    long_control,
    opening_variant,
    rule_variants,
    usual_control,
)
from meijin.game import FREE, OpeningRule, Rule, TimeControl, Variant
from meijin.v1 import game_pb2
from meijin.wire import Capabilities

SLOW_START = timedelta(seconds=10)
"""A bot that takes longer to connect is told so."""

SLOW_MOVE = 0.5
"""Seconds. A first move that takes longer, and several times what the others do, is told of."""

SLOW_FACTOR = 5
"""So many times."""

CUT_PLY = 8
"""With so many stones on the board the stream is cut."""

CUT_TIMEOUT = timedelta(minutes=1)
"""What the bot may take to get there."""

OPENING_GAMES = 6
"""In each seat, against each of the examiner's three choices."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a check came out that has not failed."""

    reason: str
    fix: str = ""
    status: Status = Status.PASS


def connects(arena: Arena, limit: timedelta) -> Verdict:
    """The bot starts and says hello."""
    seconds = arena.start(limit)
    reason = f"it said hello {seconds:.1f} s after its start"
    if not arena.candidate.command or seconds < SLOW_START.total_seconds():
        return Verdict(reason)
    fix = (
        "make it start faster, such as with tables that are kept in a file: at each restart "
        "its running games wait, and are lost after 30 s"
    )
    return Verdict(reason, fix, Status.WARN)


def hello(arena: Arena) -> Verdict:
    """What the hello says, beyond what the server insists on."""
    *_, version = arena.versions()
    reason = f"version {version.version or '(no label)'}, plays {_claims(arena.capabilities)}"
    if not has_digest(version):
        fix = (
            "say a digest of the program and its options: without one a changed program "
            "goes on with the rating of the old one"
        )
        return Verdict(f"{reason}; no digest", fix, Status.WARN)
    return Verdict(f"{reason}; digest {version.digest}")


def first_game(arena: Arena) -> Verdict:
    """Two games of the most usual kind that the bot claims."""
    claims = arena.capabilities
    variant = first_variant(claims)
    games = _play(arena, variant, usual_control(claims), games=2, is_blocking=True)
    times = move_times(games, arena.name)
    if not times:
        raise arena.failure("it gave up without having made a move", "play before giving up")
    reason = f"2 games of {variant}; {_time_words(times)}"
    slow = max(SLOW_MOVE, SLOW_FACTOR * median(times))
    if times[0] > slow:
        reason = f"{reason}, the first of all {times[0]:.2f} s"
        fix = (
            "load and compile before the hello (in Python in Bot.prepare), not in the first turn: "
            "the clock runs there"
        )
        return Verdict(reason, fix, Status.WARN)
    return Verdict(reason)


def rule(arena: Arena, wanted: Rule, *, is_quick: bool) -> Verdict:
    """Games under one rule on the boards of the plan."""
    claims = arena.capabilities
    control = usual_control(claims)
    variants = rule_variants(claims, wanted)
    first, *others = variants[:1] if is_quick else variants
    games = [*_play(arena, first, control, games=2)]
    for number, variant in enumerate(others):
        games += _play(arena, variant, control, games=1, examiner_first=number % 2 == 1)
    sizes = ", ".join(variant.size for variant in (first, *others))
    moves = len(move_times(games, arena.name))
    return Verdict(f"{len(games)} games on {sizes}; {moves} moves, all legal")


def opening(arena: Arena, wanted: OpeningRule, *, is_quick: bool) -> Verdict:
    """Games with one opening rule, in which the opponent makes each of its choices."""
    claims = arena.capabilities
    count = 2 if is_quick else OPENING_GAMES
    games = _play(arena, opening_variant(claims, wanted), usual_control(claims), games=count)
    chosen = [chooser(game) for game in games].count(arena.name)
    return Verdict(f"{count} games; it chose its side in {chosen}, the opponent in the others")


def fast_clock(arena: Arena) -> Verdict:
    """Games on the fastest clock that the bot takes, within reason."""
    claims = arena.capabilities
    control = fast_control(claims)
    games = _play(arena, first_variant(claims), control, games=2, is_blocking=True)
    times = move_times(games, arena.name)
    return Verdict(f"2 games at {control}; {_time_words(times)}")


def games_at_once(arena: Arena) -> Verdict:
    """As many games at once as the bot claims, within reason."""
    claims = arena.capabilities
    at_once = min(claims.max_games, MOST_AT_ONCE)
    if at_once == 1:
        return Verdict("it claims one game at once", status=Status.SKIP)
    games = _play(
        arena,
        first_variant(claims),
        usual_control(claims),
        games=2 * at_once,
        at_once=at_once,
        is_blocking=True,
    )
    times = move_times(games, arena.name)
    return Verdict(f"{len(games)} games, {at_once} of them at once; {_time_words(times)}")


def cut_stream(arena: Arena) -> Verdict:
    """The stream is cut while the opponent thinks, and as the bot's turn is on its way."""
    claims = arena.capabilities
    arena.examiner.hold(CUT_PLY)
    tournament = arena.begin(first_variant(claims), long_control(claims), games=1)
    try:
        if not arena.wait_until(arena.examiner.is_holding.is_set, CUT_TIMEOUT):
            return Verdict("the game was over too soon to cut anything", status=Status.SKIP)
        seconds = _cut(arena)
        arena.thread.call(arena.link.arm())
    finally:
        arena.thread.call(arena.examiner.release())
    games = arena.finish(tournament, CUT_TIMEOUT)
    check_games(games, arena.name, arena.candidate.last_lines)
    return Verdict(f"back after {seconds:.1f} s, and played on; its turn was lost on the way too")


def second_start(arena: Arena, limit: timedelta) -> Verdict:
    """Another start of the same program is the same version."""
    *_, before = arena.versions()
    arena.candidate.stop()
    seconds = arena.start(limit)
    *_, after = arena.versions()
    if before.version_id != after.version_id:
        raise CheckFailedError(
            f"its digest was {before.digest}, and is {after.digest} after another start",
            "make the digest of what the program is, with no time and no chance in it: each new "
            "one is a new version, which begins without a rating",
        )
    return Verdict(f"the same version, {seconds:.1f} s after its start")


def leaves(arena: Arena) -> Verdict:
    """The program ends when it is told to, with all that it has started."""
    ended = arena.candidate.stop()
    if ended.was_killed:
        fix = "end at SIGTERM, with a goodbye if no game is running"
        raise CheckFailedError(f"it ran on {ended.seconds:.0f} s after SIGTERM", fix)
    if ended.left:
        fix = "end the processes that the bot has started before it ends itself"
        raise CheckFailedError(f"it left behind: {', '.join(ended.left)}", fix)
    return Verdict(f"it ended {ended.seconds:.1f} s after SIGTERM, and left nothing behind")


def _play(
    arena: Arena,
    variant: Variant,
    control: TimeControl,
    *,
    games: int,
    at_once: int = 1,
    examiner_first: bool = False,
    is_blocking: bool = False,
) -> Sequence[game_pb2.Game]:
    """Play games, none of which the bot is to forfeit."""
    arena.examiner.is_blocking = is_blocking
    played = arena.play(
        variant, control, games=games, at_once=at_once, examiner_first=examiner_first
    )
    check_games(played, arena.name, arena.candidate.last_lines)
    return played


def _cut(arena: Arena) -> float:
    """Cut the stream, and return how many seconds later the bot is back."""
    accepted, begun = arena.link.accepted, time.monotonic()
    arena.thread.call(arena.link.cut())
    if not arena.wait_for_stream(accepted, GRACE):
        raise arena.failure(
            f"its stream was cut, and it was not back {GRACE.total_seconds():g} s later",
            "when a stream is lost open another one, say hello with resume_session_id, and take "
            "each game as the server then tells it",
        )
    return time.monotonic() - begun


def _claims(claims: Capabilities) -> str:
    rules = ", ".join(rule.name for rule in claims.rules)
    openings = ", ".join(each.name for each in claims.opening_rules if each != FREE)
    size = f"{claims.min_size} to {claims.max_size}"
    sizes = f"{claims.min_size}" if claims.min_size == claims.max_size else size
    return f"{rules}{f', {openings}' if openings else ''} on {sizes}"


def _time_words(times: Sequence[float]) -> str:
    if not times:
        return "no move of its own"
    return f"{len(times)} moves, the median {median(times):.3f} s, the slowest {max(times):.3f} s"
