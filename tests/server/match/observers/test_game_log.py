"""The lines about games in the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from structlog.testing import capture_logs

from meijin.testing.server import FIVE

if TYPE_CHECKING:
    from meijin.testing.server import ServerInTest

Logs = list[Any]


@pytest.fixture
def logs() -> Iterator[Logs]:
    """What is logged, with what is bound to the task that logs it."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        yield logs


def about(logs: Logs, game: object) -> Logs:
    """The lines of a game."""
    return [line for line in logs if line.get("game") == game]


async def test_a_game_has_a_line_at_its_start_and_end(
    server: ServerInTest, line: Callable[..., Awaitable[None]], logs: Logs
) -> None:
    """Both for debugging, under the id that its bots were told."""
    black, white = await server.pair()
    await line((black, white), FIVE)
    await black.ended()
    start, end = about(logs, int(black.start.game_id))
    assert (start["event"], start["log_level"]) == ("game started", "debug")
    assert {start["black"], start["white"]} == {"ada", "bob"}
    assert (end["event"], end["log_level"]) == ("game ended", "debug")


async def test_a_forfeit_tells_its_evidence(server: ServerInTest, logs: Logs) -> None:
    """The party, the ply and what was wrong."""
    black, white = await server.pair()
    await black.play(await black.turn(), 999)
    await white.ended()
    _, told = about(logs, int(black.start.game_id))
    assert (told["event"], told["log_level"]) == ("game forfeited", "info")
    assert (told["ending"], told["party"], told["ply"]) == ("illegal", "black", 0)
    assert told["detail"]


async def test_a_void_game_is_warned_of(server: ServerInTest, logs: Logs) -> None:
    """With the reason."""
    black, white = await server.pair()
    (game,) = server.running
    await server.cancel(str(game.run.id))
    await white.ended()
    _, told = about(logs, int(black.start.game_id))
    assert (told["event"], told["log_level"]) == ("game voided", "warning")
    assert (told["party"], told["detail"]) == ("operator", "the tournament was cancelled")


async def test_lines_of_a_stream_have_its_session(server: ServerInTest, logs: Logs) -> None:
    """From the first to the last, and no other stream's."""
    ada, bob = await server.bot("ada"), await server.bot("bob")
    ada.call.cancel()
    await server.away("ada")
    await server.until(lambda: any(line["event"] == "bot left" for line in logs))
    of_ada = [line for line in logs if line.get("session") == ada.session_id]
    assert [line["event"] for line in of_ada] == ["bot joined", "bot left"]
    assert {line["bot"] for line in of_ada} == {"ada"}
    (of_bob,) = (line for line in logs if line.get("session") == bob.session_id)
    assert of_bob["bot"] == "bob"
