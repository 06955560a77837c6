"""Engines as they are found in the wild, each played with."""

import asyncio
import logging
import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bots.bridge.conftest import Family, Table, at_table, brain, cells, play_game, wrapped

from meijin.bots import Choice, Position
from meijin.bots.bridge import gomocup, probe
from meijin.bots.bridge.dialogue import EngineDiedError, EngineError, EngineStartError
from meijin.bots.bridge.settings import EngineLimits
from meijin.bots.bridge.wrapped import _version as wrapped_version
from meijin.bots.sdk.errors import SupplierError
from meijin.game import FREE, SWAP2, Variant

pytestmark = pytest.mark.usefixtures("family")

FIRST_EMPTY = [0, 1, 2, 3]
"""What the brains play in their first moves, as long as nobody else does."""
FOUND_OUT: dict[str, Any] = {"pause": None, "protocol": None, "sizes": None, "opening_rules": None}
"""Nothing is said of the engine."""


@pytest.mark.parametrize(
    ("mode", "settings"),
    [
        pytest.param("Brain", {}, id="behaves"),
        pytest.param("NoEnd", {}, id="ends no line"),
        pytest.param("Stubborn", {}, id="never ends"),
        pytest.param("Nuls", {}, id="writes NULs"),
        pytest.param("Forks", {}, id="starts others"),
        pytest.param("Screams", {}, id="complains"),
        pytest.param("Twice", {"pause": None}, id="a move that nobody asked for"),
        pytest.param("Early", {"pause": None}, id="lines that nobody asked for"),
        pytest.param("PicksOnInfo", {**FOUND_OUT, "sizes": (15, 15), "time": "20+1"}, id="INFO"),
        pytest.param("MuteAbout", {"protocol": None}, id="known by START"),
        pytest.param("Deaf", {"pause": None}, id="deaf after its move"),
        pytest.param("CpuClock", {"time": "0.4/move"}, id="counts processor time"),
    ],
)
def test_engine_is_understood(mode: str, settings: dict[str, Any]) -> None:
    """It plays its game, and all of its processes are gone after it."""
    assert cells(play_game(brain(mode), plies=4, **settings)) == FIRST_EMPTY[:2]


def test_flood_of_messages() -> None:
    """Megabytes of messages are passed over, and the last of them are read."""
    (answer,) = play_game(brain("Flood"), plies=2)
    assert isinstance(answer, Choice)
    assert answer.analysis is not None
    assert (answer.cell, answer.analysis.depth, answer.analysis.score) == (0, 9, 77)


async def wait_in_vain(table: Table, position: Position) -> None:
    table.bot.game_started(position)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await table.bot.choose(position)


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize(
    "mode",
    ["Hangs", "EndlessFlood", "EndlessLine", "HalfForEver", "NeverFlushes", "StopsItself"],
)
def test_engine_that_never_moves_ends_with_its_game(mode: str, family: Family) -> None:
    """Its game waits for it until the server ends it, and the engine with it; the next has another."""

    async def play(table: Table) -> None:
        position = table.position()
        await wait_in_vain(table, position)
        before = family.pids()
        await table.bot.game_ended(position.game_id, None)
        while before & family.pids():  # noqa: ASYNC110 - processes tell nobody of their end
            await asyncio.sleep(0.01)
        await table.bot._seat(table.position())

    at_table(brain(mode), play)


def test_game_that_ends_before_its_engine_has_begun_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine that never gets ready is ended with the game, and the next game has another."""
    monkeypatch.setattr(gomocup, "START_PATIENCE", timedelta(seconds=10))

    async def play(table: Table) -> None:
        position = table.position(variant=Variant(width=19, height=19))
        await wait_in_vain(table, position)
        await table.bot.game_ended(position.game_id, None)
        assert cells(await table.play(table.position(), 4)) == FIRST_EMPTY[:2]
        assert len(table.bot._pool._seats) == 1

    at_table(brain("HangsAt19"), play)


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize("mode", ["SilentRestart", "HangsAtRestart", "NoRestart", "DiesAtRestart"])
def test_engine_without_restart(mode: str, family: Family) -> None:
    """It is told to START again, between games, and one process plays them all."""

    async def play(table: Table) -> None:
        processes = family.pids()
        for _ in range(3):
            assert cells(await table.play(table.position(), 4)) == FIRST_EMPTY[:2]
        assert family.pids() == processes

    at_table(brain(mode), play)


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize("mode", ["Suggests", "NoTurn", "HalfHeard"])
def test_engine_that_knows_less(mode: str) -> None:
    """What it doesn't know is found out before the first game, and not asked for in any."""

    async def play(table: Table) -> None:
        for _ in range(2):
            assert cells(await table.play(table.position("20+1"), 6)) == FIRST_EMPTY[:3]

    at_table(brain(mode), play, **FOUND_OUT)


def test_first_search_is_made_before_the_first_game() -> None:
    """Whatever a process loads then is loaded when its game begins."""

    async def play(table: Table) -> None:
        positions = [table.position() for _ in range(3)]
        for position in positions:
            table.bot.game_started(position)
        for position in positions:
            answer = await table.bot.choose(position)
            assert isinstance(answer, Choice)
            assert answer.analysis is not None
            assert answer.analysis.depth == 2

    at_table(brain("Counts"), play, games=3)


def test_replacement_is_ready_before_the_next_game() -> None:
    """A game is over for the bot when the engine that has died in it is replaced."""

    async def play(table: Table) -> None:
        with pytest.raises(EngineDiedError):
            await table.play(table.position(), 8)
        assert len(table.bot._pool._idle) == 1

    at_table(brain("DiesThird"), play)


@pytest.mark.usefixtures("impatience")
def test_search_that_can_be_stopped(family: Family) -> None:
    """An engine that knows `yxstop` is stopped when its game ends, and plays the next."""

    async def play(table: Table) -> None:
        processes = family.pids()
        for _ in range(2):
            position = table.position()
            await wait_in_vain(table, position)
            await table.bot.game_ended(position.game_id, None)
        assert family.pids() == processes

    at_table(brain("Yixin"), play, protocol=None)


@pytest.mark.parametrize(
    ("mode", "words", "settings"),
    [
        ("DiesThird", "has ended with status 7; it wrote: out of ideas", {}),
        ("Crashes", "was killed by SIGABRT", {}),
        ("KillsParent", "was ended from outside", {}),
        ("LeavesDaemon", "has ended with status 7; it wrote: out of ideas", {}),
        ("DiesAfterMove", "status 3", {}),
        ("ClosesOutput", "has closed its output", {}),
        ("ClosesInput", "has closed its input", {}),
        ("ManyBytes", "9; it wrote: no memory", {"limits": EngineLimits(memory=256 << 20)}),
        (
            "CpuClock",
            "SIGKILL|SIGXCPU",
            {"time": "20/move", "limits": EngineLimits(cpu=timedelta(seconds=1))},
        ),
    ],
)
def test_death(mode: str, words: str, settings: dict[str, Any]) -> None:
    """It fails the game, and the cause says how it ended."""
    with pytest.raises(EngineDiedError, match=words):
        play_game(brain(mode), **settings)


def test_memory_that_an_engine_is_told_of_can_be_filled() -> None:
    """Its program and its libraries have address space beside that."""
    play_game(brain("FillsTables"), limits=EngineLimits(memory=256 << 20))


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


def test_next_game_after_a_death() -> None:
    """The next game has an engine that was started anew."""

    async def play(table: Table) -> None:
        with pytest.raises(EngineDiedError):
            await table.play(table.position(), 8)
        assert cells(await table.play(table.position(), 4)) == FIRST_EMPTY[:2]

    at_table(brain("DiesThird"), play)


@pytest.mark.parametrize(
    ("mode", "mark", "words"),
    [
        ("Refuses", "DON'T LIKE", "answers BOARD with ERROR I don't like it"),
        ("DiesThird", "out of ideas", "status 7"),
        ("Says", "licence", "status 1"),
    ],
)
def test_a_failed_supplier_is_told_by_what_the_engine_says(
    mode: str, mark: str, words: str
) -> None:
    """In its refusal, in its last words or in a message before it; without that it is its own."""
    with pytest.raises(SupplierError, match=words):
        play_game(brain(mode), supplier=mark, time="0.5/move")
    with pytest.raises(EngineError, match=words):
        play_game(brain(mode), supplier="something else", time="0.5/move")


def test_engine_that_ends_at_once() -> None:
    """There is no bot, and what the engine has said is told."""
    with pytest.raises(EngineStartError, match="status 2; it wrote: no licence"):
        play_game(brain("DiesAtStart"))


def test_everything_is_found_out(
    tmp_path: Path, family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protocol, version, sizes: one process is asked for all of them, and plays the first game."""
    file = tmp_path / "starts"
    monkeypatch.setenv("MEIJIN_TEST_STARTS", str(file))

    async def play(table: Table) -> None:
        bot, can = table.bot, table.bot.capabilities
        assert (bot.name, bot.version, can.min_size, can.max_size) == ("brains", "1.5", 5, 20)
        assert len(family.pids()) == 2  # the launcher and the engine that waits for its first game
        assert cells(await table.play(table.position(), 8)) == FIRST_EMPTY

    at_table(brain("Counted"), play, **FOUND_OUT)
    assert file.read_text() == "started\n"


def test_standard_error_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    """With the log at its finest, what the engine says and writes is shown, and bounded."""
    caplog.set_level(logging.DEBUG, "meijin.bots.engine")
    play_game(brain("Screams"), plies=2)
    shown = caplog.text
    for line in ("> START 15", "< OK", "! aaah!", "the rest of its standard error is left out"):
        assert line in shown
    assert len(shown) < 200_000


def test_engine_that_ended_while_it_waited(family: Family) -> None:
    """One that has ended between games is replaced, and nobody notices."""

    async def play(table: Table) -> None:
        for pid in family.pids():
            os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(family.assert_ended)
        assert cells(await table.play(table.position(), 4)) == FIRST_EMPTY[:2]

    at_table(brain(), play)


@pytest.mark.parametrize("mode", ["NoRestart", "Brain"])
def test_engine_is_reused_or_replaced(mode: str, family: Family) -> None:
    """Games follow each other, in one process with RESTART; boards of other sizes too."""

    async def play(table: Table) -> None:
        processes = family.pids()
        square = Variant(width=19, height=19)
        for variant in (Variant(), Variant(), square, Variant(width=9, height=7)):
            answers = await table.play(table.position(variant=variant), 8)
            assert cells(answers) == FIRST_EMPTY
            assert mode == "NoRestart" or family.pids() == processes

    at_table(brain(mode), play)


def test_lost_stream_finds_the_thought_again() -> None:
    """A turn that is asked again is answered by the search that was going on."""

    async def play(table: Table) -> None:
        position = table.position()
        table.bot.game_started(position)
        first = asyncio.create_task(table.bot.choose(position))
        await asyncio.sleep(0)
        first.cancel()
        assert await table.bot.choose(position) == await table.bot.choose(position) == 0
        await table.bot.game_ended(position.game_id, None)

    at_table(brain(), play)


@pytest.mark.usefixtures("impatience")
def test_other_turn_of_the_same_game() -> None:
    """A turn that takes another's place is thought about by another engine."""

    async def play(table: Table) -> None:
        position = table.position()
        await wait_in_vain(table, position)
        position.board.play(7)
        assert await table.bot.choose(position) == 0
        await table.bot.game_ended(position.game_id, None)

    at_table(brain("HangsFirst"), play)


def test_game_that_is_resumed_elsewhere() -> None:
    """An engine that hasn't seen the game is shown all of it."""

    async def play(table: Table) -> None:
        position = table.position(moves=[0, 17, 1, 34])
        assert cells(await table.play(position, 2)) == [2]

    at_table(brain(), play)


def test_pinned_core() -> None:
    """An engine that is pinned has one core."""
    (answer,) = play_game(brain("Tells"), plies=2, limits=EngineLimits(is_pinned=True))
    assert isinstance(answer, Choice)
    assert answer.analysis is not None
    assert answer.analysis.depth == 1


def test_suspension(family: Family) -> None:
    """A suspended engine stands still while the opponent thinks, and goes on at its turn."""

    async def play(table: Table) -> None:
        position = table.position()
        for cell in FIRST_EMPTY:
            assert await table.bot.choose(position) == cell
            while not family.is_any_suspended():  # noqa: ASYNC110 - the launcher tells nobody
                await asyncio.sleep(0.01)
            position.board.play(cell)
            position.board.play(position.legal_cells()[-1])
        await table.bot.game_ended(position.game_id, None)

    at_table(brain(), play, limits=EngineLimits(is_suspended=True))


@pytest.mark.parametrize(
    ("told", "version"),
    [
        ("1.5", "1.5"),
        ("", "1"),
        ("0.43.02 (g++ 12.2.0 on Linux SSE41 AVX2 AVX512 BMI2 VNNI)", "0.43.02"),
        ("x" * 50, "x" * 40),
    ],
)
def test_version(told: str, version: str) -> None:
    """What stands in brackets is left out where there is no room for it."""
    assert wrapped_version({"version": told}) == version


def test_noise_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """However often an engine writes it with other numbers."""
    caplog.set_level(logging.INFO, "meijin.bots.engine")
    play_game(brain("Mumbles"), plies=6)
    assert caplog.text.count("passed over 'so far") == 1


def test_engine_that_is_silent_on_start(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said that it is waited for, and it is not asked for other sizes."""
    caplog.set_level(logging.INFO, "meijin.bots.engine")
    monkeypatch.setattr(gomocup, "START_PATIENCE", timedelta(seconds=0.5))
    monkeypatch.setattr(probe, "_LONG", 0)
    with pytest.raises(EngineStartError, match="doesn't answer START 15"):
        play_game(brain("SilentStart"), sizes=None)
    assert "hasn't answered START" in caplog.text


def test_one_variant_is_all_that_is_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    """Where it is known what is played, no other board is set up, and no other opening tried."""
    caplog.set_level(logging.DEBUG, "meijin.bots.engine")
    variant = Variant(width=17, height=17, opening_rule=SWAP2)
    bot = wrapped(brain("AllSwaps"), **FOUND_OUT, variant=variant)
    bot.prepare()
    bot.close()
    can = bot.capabilities
    assert (can.min_size, can.max_size, can.opening_rules) == (17, 17, (FREE, SWAP2))
    asked = {line.split()[1] for line in caplog.messages if line.startswith("> SWAP")}
    assert asked == {"SWAP2BOARD"}
    assert {line for line in caplog.messages if line.startswith("> START")} == {"> START 17"}


def test_a_board_that_it_does_not_set_up_is_refused_at_once() -> None:
    words = "sets up no 22x22 board: the engine answers START 22 with ERROR unsupported size"
    with pytest.raises(EngineStartError, match=words):
        play_game(brain("Brain"), **FOUND_OUT, variant=Variant(width=22, height=22))


def test_one_that_loads_at_each_start_has_one_board(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG, "meijin.bots.engine")
    monkeypatch.setattr(probe, "_SLOW", -1.0)
    bot = wrapped(brain("Brain"), sizes=None)
    bot.prepare()
    bot.close()
    assert (bot.capabilities.min_size, bot.capabilities.max_size) == (15, 15)
    assert {line for line in caplog.messages if line.startswith("> START")} == {"> START 15"}
