"""A log of moves that is damaged while its server is down, as its operator meets it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.system.processes import BOTS, NO_LADDER, Processes, Server, eventually

from meijin.game import Ending, Party
from meijin.store.schema import GameState

if TYPE_CHECKING:
    from tests.system.conftest import Books

PAIR = BOTS[:2]
POSITIONS = 200
"""That the bots have been told of, before the server is killed."""


def _positions(processes: Processes) -> int:
    journals = [processes.journal(bot) for bot in PAIR]
    return sum(each.read_text().count("told ") for each in journals if each.exists())


def _flip(data: Path) -> Path:
    """Flip a bit in the middle of what the newest segment holds."""
    segment = max((data / "meijin.db-moves").glob("*.moves"))
    content = bytearray(segment.read_bytes())
    content[len(content.rstrip(b"\0")) // 2] ^= 4
    segment.write_bytes(content)
    return segment


def test_a_flipped_bit_is_told_and_what_it_took_is_void(
    processes: Processes, open_books: Callable[[str], Books]
) -> None:
    """`meijin verify` and a start name it; the games go on only when that is accepted, or are void."""
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    server.start_bots(*PAIR, delay=0.02)
    server.create_tournament(*PAIR, rounds=40, variant="15x15", time="60")
    eventually(lambda: _positions(processes) > POSITIONS)
    server.process.kill()
    running = len(books.games(GameState.RUNNING))
    assert running
    segment = _flip(server.data)

    verified = processes.run("verify", f"--data={server.data}")
    assert verified.returncode == 1
    assert f"NOT whole: {segment} is damaged at byte" in verified.stdout

    words = ("serve", f"--listen={server.address}", f"--data={server.data}", "--open", NO_LADDER)
    refused = processes.run(*words)
    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()
    assert line.startswith(f"meijin: {segment} is damaged at byte")
    assert "--accept-lost-moves" in line

    started = processes.start("accepted", *words, "--accept-lost-moves")
    eventually(lambda: started.has_said("is listening on"))
    assert started.has_said("the log of moves that was found is kept")
    (kept,) = (server.data / "meijin.db-moves").glob("kept-*")
    assert (kept / segment.name).exists()
    voided = [game for game in books.games(GameState.FINISHED) if game.ending is Ending.VOID]
    assert 0 < len(voided) <= running
    assert {game.at_fault for game in voided} == {Party.SERVER}
    assert processes.run("verify", f"--data={server.data}").returncode == 0
    assert "Traceback" not in started.words
