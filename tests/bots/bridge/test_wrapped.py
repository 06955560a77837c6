"""Engines as they are found in the wild, each played with."""

import asyncio
import logging
import os
import signal
import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.bots.bridge.conftest import Family, Table, brain, cells, play_game, wrapped

from meijin.bots import Choice
from meijin.bots.bridge.errors import EngineDiedError, EngineError, EngineStartError
from meijin.bots.bridge.limits import Limits
from meijin.bots.sdk.answer import Unchecked
from meijin.bots.sdk.errors import SupplierError
from meijin.game import Variant

pytestmark = pytest.mark.usefixtures("family")

FIRST_EMPTY = [0, 1, 2, 3]
"""What the brains play in their first moves, as long as nobody else does."""
HARMLESS = (
    "MuteAbout",
    "Cr",
    "Crlf",
    "NoEnd",
    "Spaces",
    "Suggest",
    "ShySuggest",
    "LongLine",
    "Bytes",
    "Stubborn",
    "HalfLine",
    "Forks",
    "NoTurn",
    "PicksOnInfo",
    "Screams",
    "Wide",
    "Prompts",
    "LateOk",
    "Zombies",
)


@pytest.mark.parametrize("mode", HARMLESS)
def test_engine_is_understood(mode: str) -> None:
    """It plays its game, and all of its processes are gone after it."""
    assert cells(play_game(brain(mode))) == FIRST_EMPTY


@pytest.mark.parametrize("mode", ["Twice", "Early"])
def test_moves_that_nobody_asked_for(mode: str) -> None:
    """They are left out, once a trial game has shown that they come."""
    assert cells(play_game(brain(mode), pause=None)) == FIRST_EMPTY


def test_flood_of_messages() -> None:
    """Megabytes of messages are passed over, and the last of them are read."""
    answers = play_game(brain("Flood"), plies=2)
    assert isinstance(answers[0], Choice)
    assert answers[0].cell == 0
    assert answers[0].analysis is not None
    assert (answers[0].analysis.depth, answers[0].analysis.score) == (9, 77)


SPEECHLESS = (
    "Hangs",
    "EndlessFlood",
    "EndlessLine",
    "HalfForEver",
    "Floats",
    "WideDigits",
    "NeverFlushes",
    "StopsItself",
)


@pytest.mark.parametrize("mode", SPEECHLESS)
def test_engine_that_never_moves_ends_with_its_game(mode: str, family: Family) -> None:
    """Its game waits for it until the server ends it, and the engine with it; the next has another."""

    async def play() -> None:
        position = table.position()
        bot.game_started(position)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await bot.choose(position)
        before = family.pids()
        bot.game_ended(position.game_id, None)
        while before & family.pids():  # noqa: ASYNC110 - processes tell nobody of their end
            await asyncio.sleep(0.01)
        await bot._pool.acquire(bot._time(table.position()))

    bot = wrapped(brain(mode))
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


def test_game_that_ends_before_its_engine_has_begun_it() -> None:
    """The engine that never gets ready is ended with the game, and the next game has another."""

    async def play() -> None:
        await table.play(table.position(), 2)
        position = table.position()
        bot.game_started(position)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await bot.choose(position)
        bot.game_ended(position.game_id, None)
        assert cells(await table.play(table.position(), 4)) == FIRST_EMPTY[:2]
        assert len(bot._pool._seats) == 1

    bot = wrapped(brain("HangsAtRestart"))
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


def test_search_that_can_be_stopped(family: Family) -> None:
    """An engine that knows `yxstop` is stopped when its game ends, and plays the next."""

    async def play() -> None:
        processes = family.pids()
        for _ in range(2):
            position = table.position()
            bot.game_started(position)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await bot.choose(position)
            bot.game_ended(position.game_id, None)
        assert family.pids() == processes

    bot = wrapped(brain("Yixin"), protocol=None)
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("DiesThird", "has ended with status 7; it wrote: out of ideas"),
        ("Crashes", "was killed by SIGABRT"),
        ("KillsItself", "was killed by SIGKILL"),
        ("KillsParent", "was ended from outside"),
        ("LeavesDaemon", "has ended with status 7; it wrote: out of ideas"),
        ("ClosesOutput", "has closed its output"),
        ("ClosesInput", "has closed its input"),
    ],
)
def test_death_at_its_turn(mode: str, words: str) -> None:
    """It fails the game, and the cause says how it ended."""
    with pytest.raises(EngineDiedError, match=words):
        play_game(brain(mode))


def test_last_words_of_an_engine(caplog: pytest.LogCaptureFixture) -> None:
    """Its author is shown the end of its standard error once, fit for a terminal."""
    with pytest.raises(EngineDiedError, match="status 1; it wrote: ValueError: no move") as caught:
        play_game(brain("Traceback"))
    assert len(caught.value.errors) == 10
    (shown,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert "line 99  [31m" in shown
    assert "line 3 " not in shown
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 200


def test_death_between_turns() -> None:
    """A move that an engine has made before it ended counts; at its next turn it has failed."""
    with pytest.raises(EngineDiedError, match="status 3"):
        play_game(brain("DiesAfterMove"))
    assert cells(play_game(brain("DiesAfterMove"), plies=2)) == [0]


def test_next_game_after_a_death() -> None:
    """The next game has an engine that was started anew."""

    async def play() -> None:
        for _ in range(2):
            with pytest.raises(EngineDiedError):
                await table.play(table.position(), 8)
        assert cells(await table.play(table.position(), 4)) == FIRST_EMPTY[:2]

    bot = wrapped(brain("DiesThird"))
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


@pytest.mark.parametrize(("mode", "cell"), [("Occupied", 0), ("OffBoard", 225), ("Negative", 225)])
def test_illegal_move_is_left_to_the_server(mode: str, cell: int) -> None:
    """It is sent as it is, so that the game ends by an illegal move."""
    answers = play_game(brain(mode))
    assert answers[-1] == Unchecked(cell)


@pytest.mark.parametrize(
    ("mode", "mark"),
    [("Refuses", "DON'T LIKE"), ("DiesThird", "out of ideas"), ("Says", "licence")],
)
def test_a_failed_supplier_is_told_by_what_the_engine_says(mode: str, mark: str) -> None:
    """In its refusal, in its last words or in a message before it; without that it is its own."""
    with pytest.raises(SupplierError):
        play_game(brain(mode), supplier=mark)
    with pytest.raises(EngineError):
        play_game(brain(mode), supplier="something else")


def test_refusal_to_move() -> None:
    """ERROR in place of a move fails the game, and is its cause."""
    with pytest.raises(EngineError, match="answers BOARD with ERROR I don't like it"):
        play_game(brain("Refuses"))


def test_engine_that_ends_at_once() -> None:
    """There is no bot, and what the engine has said is told."""
    bot = wrapped(brain("DiesAtStart"))
    with pytest.raises(EngineStartError, match="status 2; it wrote: no licence"):
        bot.prepare()
    bot.close()


def test_processor_clock() -> None:
    """An engine that counts processor time is told of less than it has, and is in time."""
    started = time.process_time()
    assert cells(play_game(brain("CpuClock"), plies=4, time="0.4/move")) == FIRST_EMPTY[:2]
    assert time.process_time() - started < 5


def test_everything_is_found_out(family: Family) -> None:
    """Protocol, version, sizes: an engine that answers is asked for all of them."""
    bot = wrapped(brain(), protocol=None, sizes=None, pause=None)
    bot.prepare()
    assert (bot.name, bot.version) == ("brains", "1.5")
    assert (bot.capabilities.min_size, bot.capabilities.max_size) == (5, 20)
    assert len(family.pids()) == 2  # the launcher and the engine that waits for its first game
    bot.close()


@pytest.mark.parametrize(("mode", "starts"), [("Counted", 1), ("CountedOnce", 2)])
def test_one_process_is_asked_everything(
    mode: str, starts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It plays the first game too, unless it can't begin another game than its trial game."""
    file = tmp_path / "starts"
    monkeypatch.setenv("MEIJIN_TEST_STARTS", str(file))
    answers = play_game(brain(mode), protocol=None, sizes=None, pause=None, opening_rules=None)
    assert cells(answers) == FIRST_EMPTY
    assert len(file.read_text().splitlines()) == starts


def test_engine_that_answers_info() -> None:
    """What it says to INFO is never taken for its answer, whether it came before the question."""
    answers = play_game(
        brain("PicksOnInfo"), pause=None, opening_rules=None, time="20+1", protocol=None
    )
    assert cells(answers) == FIRST_EMPTY


def test_engine_without_about_is_known_by_start() -> None:
    """One that doesn't answer ABOUT is asked with START."""
    bot = wrapped(brain("MuteAbout"), protocol=None)
    bot.prepare()
    assert bot.version == "1"
    bot.close()


def test_banner() -> None:
    """What an engine says of its own accord at its start is no answer."""
    assert cells(play_game(brain("Banner"), protocol=None)) == FIRST_EMPTY


def test_standard_error_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    """With the log at its finest, what the engine says and writes is shown, and bounded."""
    caplog.set_level(logging.DEBUG, "meijin.bots.engine")
    play_game(brain("Screams"), plies=2)
    shown = caplog.text
    assert "> START 15" in shown
    assert "< OK" in shown
    assert "! aaah!" in shown
    assert "the rest of its standard error is left out" in shown
    assert len(shown) < 200_000


def test_engine_that_ended_while_it_waited(family: Family) -> None:
    """One that has ended between games is replaced, and nobody notices."""

    async def play() -> None:
        for pid in family.pids():
            os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(family.assert_ended)
        assert cells(await table.play(table.position(), 4)) == FIRST_EMPTY[:2]

    bot = wrapped(brain())
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


def test_deaf_moment_is_found_out() -> None:
    """An engine that throws away what comes right after its move is left alone for a while."""
    assert cells(play_game(brain("Deaf"), plies=4, pause=None)) == FIRST_EMPTY[:2]


@pytest.mark.parametrize("mode", ["NoRestart", "Brain"])
def test_engine_is_reused_or_replaced(mode: str) -> None:
    """Games follow each other, with RESTART or without; boards of other sizes too."""

    async def play() -> None:
        for variant in (
            Variant(),
            Variant(),
            Variant(width=19, height=19),
            Variant(width=9, height=7),
        ):
            answers = await table.play(table.position(variant=variant), 8)
            assert cells(answers) == FIRST_EMPTY

    bot = wrapped(brain(mode))
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


def test_engine_of_a_game_is_kept_for_the_next(family: Family) -> None:
    """One that knows RESTART plays all games in one process."""

    async def play() -> None:
        processes = family.pids()
        for _ in range(3):
            await table.play(table.position(), 4)
            assert family.pids() == processes

    bot = wrapped(brain())
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


def test_lost_stream_finds_the_thought_again() -> None:
    """A turn that is asked again is answered by the search that was going on."""

    async def play() -> None:
        position = table.position()
        bot.game_started(position)
        first = asyncio.create_task(bot.choose(position))
        await asyncio.sleep(0)
        first.cancel()
        assert await bot.choose(position) == await bot.choose(position) == 0
        bot.game_ended(position.game_id, None)

    bot = wrapped(brain())
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


def test_other_turn_of_the_same_game() -> None:
    """A turn that takes another's place is thought about by another engine."""

    async def play() -> None:
        position = table.position()
        bot.game_started(position)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await bot.choose(position)
        position.board.play(7)
        assert await bot.choose(position) == 0
        bot.game_ended(position.game_id, None)

    bot = wrapped(brain("HangsFirst"))
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


def test_game_that_is_resumed_elsewhere() -> None:
    """An engine that hasn't seen the game is shown all of it."""

    async def play() -> None:
        position = table.position(moves=[0, 17, 1, 34])
        assert cells(await table.play(position, 2)) == [2]

    bot = wrapped(brain())
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()


def test_memory_limit() -> None:
    """An engine that takes more memory than it may have fails by itself."""
    with pytest.raises(EngineDiedError, match="status 9; it wrote: no memory"):
        play_game(brain("ManyBytes"), limits=Limits(memory=512 << 20))


def test_processor_limit() -> None:
    """An engine that uses more processor time than it may have is killed, in its game alone."""
    with pytest.raises(EngineDiedError, match=r"SIGKILL|SIGXCPU"):
        play_game(brain("CpuClock"), time="20/move", limits=Limits(cpu=timedelta(seconds=1)))


def test_pinned_core() -> None:
    """An engine that is pinned has one core."""
    answers = play_game(brain("Tells"), plies=2, limits=Limits(is_pinned=True))
    assert isinstance(answers[0], Choice)
    assert answers[0].analysis is not None
    assert answers[0].analysis.depth == 1


def test_suspension(family: Family) -> None:
    """A suspended engine stands still while the opponent thinks, and goes on at its turn."""

    async def play() -> None:
        position = table.position()
        for cell in FIRST_EMPTY:
            assert await bot.choose(position) == cell
            while not family.is_any_suspended():  # noqa: ASYNC110 - the launcher tells nobody
                await asyncio.sleep(0.01)
            position.board.play(cell)
            position.board.play(position.legal_cells()[-1])
        bot.game_ended(position.game_id, None)

    bot = wrapped(brain(), limits=Limits(is_suspended=True))
    table = Table(bot)
    bot.prepare()
    try:
        asyncio.run(play())
    finally:
        bot.close()
