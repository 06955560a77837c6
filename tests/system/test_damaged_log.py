"""A log of moves that is damaged while its server is down, as its operator meets it."""

from pathlib import Path

from tests.processes import eventually
from tests.system.server import Server

from meijin.game import Party
from meijin.store.schema import GameState

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
    segment = max((data / "meijin.db-moves").glob("*.moves"))
    return len(segment.read_bytes().rstrip(b"\0"))


def _flip(data: Path) -> Path:
    segment = max((data / "meijin.db-moves").glob("*.moves"))
    content = bytearray(segment.read_bytes())
    content[len(content.rstrip(b"\0")) // 2] ^= 4
    segment.write_bytes(content)
    return segment


def test_a_flipped_bit_is_told_and_what_it_took_is_void(server: Server) -> None:
    """`meijin verify` and a start name it; the games go on only when that is accepted, or are void."""
    (server.folder / "long_games.py").write_text(LONG_GAMES)
    server.run_bots(**dict.fromkeys(PAIR, "long_games.py"))
    server.create_tournament(*PAIR, rounds=4, variant="15x15", time="60")
    eventually(lambda: _written(server.data) > WRITTEN)
    server.process.kill()
    running = len(server.books.running())
    assert running
    segment = _flip(server.data)
    assert f"NOT whole: {segment} is damaged at byte" in server.tell("verify", status=1)
    refused = server.refusal(*server.words)
    assert refused.startswith(f"{segment} is damaged at byte")
    assert "--accept-lost-moves" in refused

    started = server.processes.start("accepted", *server.words, "--accept-lost-moves")
    started.wait_for("is listening on")
    assert started.has_said("the log of moves that was found is kept")
    (kept,) = (server.data / "meijin.db-moves").glob("kept-*")
    assert (kept / segment.name).exists()
    eventually(server.books.games, GameState.VOID)
    voided = server.books.games(GameState.VOID)
    assert len(voided) <= running
    assert {game.at_fault for game in voided} == {Party.SERVER}
    server.tell("verify")
    assert "Traceback" not in started.words
