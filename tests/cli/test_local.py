"""What is passed on of bots that start, and how long they are waited for."""

from meijin.bots.builtin.compiled import COMPILING
from meijin.cli.local import BOT_START_TIMEOUT, NOTICE_INTERVAL, Startup

LIMIT = BOT_START_TIMEOUT.total_seconds()


def test_a_bot_that_compiles_is_waited_for() -> None:
    """However long it takes, since its process lives and says so."""
    startup = Startup(0)
    for now in range(0, int(10 * LIMIT), 10):
        startup.notice(f"12:00:00 {COMPILING}, once", now)
        assert not startup.is_over(now)


def test_a_bot_that_has_compiled_has_its_time_again() -> None:
    """Whatever else it says, it is given up when that time is over."""
    startup = Startup(0)
    startup.notice(COMPILING, 1000)
    startup.notice("compiled the search: 3 functions", 1001)
    startup.notice("reconnecting in 2.0 s", 1002)
    assert not startup.is_over(1000 + LIMIT)
    assert startup.is_over(1001 + LIMIT)


def test_a_bot_that_says_nothing_is_given_up() -> None:
    """After a time in which any bot has loaded."""
    startup = Startup(0)
    assert not startup.is_over(LIMIT)
    assert startup.is_over(LIMIT + 1)


def test_a_last_line_is_passed_on_once() -> None:
    """Not at once, for most bots are quick; then each new one, but not too many."""
    startup = Startup(0)
    later = NOTICE_INTERVAL.total_seconds()
    assert startup.notice("loading", later - 1) == ""
    assert startup.notice("loading", later) == "loading"
    assert startup.notice("loading", 3 * later) == ""
    assert startup.notice("compiling", 3 * later) == "compiling"
    assert startup.notice("connecting", 3 * later + 1) == ""
    assert startup.notice("connecting", 4 * later) == "connecting"


def test_a_failure_is_left_to_the_end_of_the_process() -> None:
    """What a bot says as it ends is told once, when it has ended."""
    assert Startup(0).notice("meijin: no file bot.py", NOTICE_INTERVAL.total_seconds()) == ""
