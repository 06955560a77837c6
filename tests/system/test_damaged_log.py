"""A log of moves that is damaged while its server is down, as its operator meets it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.system.processes import NO_LADDER, Processes, Server, eventually

from meijin.game import Party
from meijin.store.schema import GameState

if TYPE_CHECKING:
    from tests.system.conftest import Books

PAIR = ("ada", "bob")

LONG_GAMES = """
import time

from meijin.bots import Bot, Position
from meijin.game import Color


class LongGames(Bot):
    \"\"\"Plays where nobody ever has five in a row.\"\"\"

    def choose(self, position: Position) -> int:
        \"\"\"Take a cell of the own half of a pattern of pairs.\"\"\"
        time.sleep(0.01)
        is_black = position.color is Color.BLACK
        own = [
            cell for cell in position.legal_cells() if ((cell % 15 + cell // 15 * 2) % 4 < 2) is is_black
        ]
        return own[0]
"""

WRITTEN = 8000
"""Bytes of the log after which the server is killed: 100 moves, with which no game is over."""


def _written(data: Path) -> int:
    """The bytes of the newest segment."""
    segment = max((data / "meijin.db-moves").glob("*.moves"))
    return len(segment.read_bytes().rstrip(b"\0"))


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
    (processes.folder / "long_games.py").write_text(LONG_GAMES)
    for name in PAIR:
        words = ("bot", "run", "long_games.py", f"--name={name}", f"--server={server.address}")
        processes.start(name, *words)
    eventually(lambda: server.connected_bots() == set(PAIR))
    server.create_tournament(*PAIR, rounds=4, variant="15x15", time="60")
    eventually(lambda: _written(server.data) > WRITTEN)
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
    eventually(lambda: books.games(GameState.VOID))
    voided = books.games(GameState.VOID)
    assert len(voided) <= running
    assert {game.at_fault for game in voided} == {Party.SERVER}
    assert processes.run("verify", f"--data={server.data}").returncode == 0
    assert "Traceback" not in started.words
