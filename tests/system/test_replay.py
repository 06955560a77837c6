"""A game that a bot has forfeited, replayed on its author's machine."""

import json
import re

from tests.processes import eventually
from tests.system.server import Server

FRAGILE = '''
"""A bot that fails with ten stones on the board, by what it knows of its clock."""

from meijin.bots import Bot, Position


class Fragile(Bot):
    def choose(self, position: Position) -> int:
        if position.board.ply >= 10:
            return self.table[round(position.clock_ms, -3), round(position.opponent_clock_ms, -3)]
        return position.legal_cells()[0]

    table: dict[tuple[int, int], int] = {}
'''


def test_a_crash_happens_again(server: Server) -> None:
    """The same exception at the same line, by the game's number and by its record."""
    (server.folder / "fragile.py").write_text(FRAGILE)
    server.run_bots(fragile="fragile.py", random="random")
    server.create_tournament("fragile", "random", rounds=1, time="600+1", variant="15x15")
    eventually(lambda: server.books.finished() == 1)
    shown = server.tell("game", "export", "1", "--format=json")
    (server.folder / "game.json").write_text(shown)
    detail = json.loads(shown)["outcome"]["detail"]
    assert re.fullmatch(
        r"KeyError: \((599|60[0-9])000, (599|60[0-9])000\) \(fragile\.py, line [0-9]+\)", detail
    )
    for game in ("1", "game.json"):
        told = server.tell("game", "replay", game, "fragile.py", status=1)
        assert "Traceback" in told
        assert "return self.table[" in told
        assert detail in told
    before = len(json.loads(shown)["moves"]) - 2
    sane = server.tell("game", "replay", "game.json", f"--ply={before}", "fragile.py")
    assert "the move played" in sane
    assert "99" in server.refusal("game", "replay", "99", "fragile.py")
