"""Positions evaluated by a bot of another process, asked by the command."""

import json

from tests.processes import Processes, eventually
from tests.system.server import NO_LADDER, Server

COUNTING = '''
"""A bot that says how many stones it sees."""

from meijin.bots import Analysis, Bot, Capabilities, Choice, Position


class Counting(Bot):
    capabilities = Capabilities(evaluates=True)

    def choose(self, position: Position) -> Choice:
        stones = position.board.ply
        if stones == 3:
            raise RuntimeError("three are too many")
        nodes = position.max_nodes or position.move_ms
        return Choice(position.legal_cells()[0], Analysis(stones, 1, nodes, (0, 1)))
'''
POSITIONS = "h8\nh8i9\nh8h8\nh8i9j10\nh8i9j10k11\n"


def test_positions_are_searched_by_a_bot_on_a_server(processes: Processes) -> None:
    """In the order of the file; what failed is named. Operators may ask, and the bot itself."""
    (processes.folder / "counting.py").write_text(COUNTING)
    server = Server(processes, "--registration=closed", NO_LADDER)
    token = server.tell("bot", "register", "counting").strip()
    words = ("bot", "run", "counting.py", f"--server={server.address}")
    bot = processes.start("counting", *words, MEIJIN_TOKEN=token)
    eventually(lambda: "counting" in server.connected_bots())

    asked = ("analyse", "-", "--bot=counting", f"--server={server.address}")
    done = server.run(*asked, "--nodes=700", text=POSITIONS)
    assert done.returncode == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["position"] for each in found] == ["h8", "h8i9", "h8i9j10k11"], done.stderr
    assert [each["score"] for each in found] == [1, 2, 4]
    first = found[0]
    assert (first["best_move"], first["pv"], first["nodes"]) == ("a15", ["a15", "b15"], 700)
    assert first["seconds"] > 0
    assert set(done.stderr.splitlines()) == {
        "standard input:3: h8 is occupied",
        "standard input:4: the bot failed: RuntimeError: three are too many",
        "-: left out 2 of what was asked",
    }
    timed = (*asked, "--time=0.25/move")
    assert (
        json.loads(processes.run(*timed, text="h8i9\n", MEIJIN_TOKEN=token).stdout)["nodes"] == 250
    )
    assert "a token is needed" in processes.run(*timed, text="h8\n").stderr
    for more, status, told in (
        ("--bot=nobody", 1, 'no bot "nobody"'),
        ("--time=60+1", 1, '--time "60+1": on a server give a time for each'),
        ("--threads=2", 2, "--threads is for bots of this machine"),
        ("--variant=renju 15x15", 1, "the bot does not play renju"),
    ):
        done = server.run(*asked, more, text="h8\n")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1), done
        assert told in done.stderr
    assert bot.stop() == 0
