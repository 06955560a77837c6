"""Positions evaluated by a bot of another process, asked by the command."""

import json
import subprocess
from pathlib import Path

from tests.system.processes import MEIJIN, NO_LADDER, Processes, Server, environment, eventually

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


def test_positions_are_searched_by_a_bot_on_a_server(processes: Processes, tmp_path: Path) -> None:
    """In the order of the file; what failed is named. Operators may ask, and the bot itself."""
    (tmp_path / "counting.py").write_text(COUNTING)
    server = Server(processes, "--registration=closed", NO_LADDER)
    operator = {"MEIJIN_DATA": str(server.data)}
    address = f"--server={server.address}"
    token = processes.run("bot", "register", "counting", address, **operator).stdout.strip()
    program = str(tmp_path / "counting.py")
    bot = processes.start("counting", "bot", "run", program, address, MEIJIN_TOKEN=token)
    eventually(lambda: "counting" in server.connected_bots())

    def analyse(*words: str, text: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*MEIJIN, "analyse", "-", address, *words],
            env=environment(tmp_path, settings),
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    done = analyse("--bot=counting", "--nodes=700", text=POSITIONS, **operator)
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
    assert done.returncode == 0
    words = "--bot=counting", "--time=0.25/move"
    done = analyse(*words, text="h8i9\n", MEIJIN_TOKEN=token)
    assert json.loads(done.stdout)["nodes"] == 250, done.stderr
    assert "missing or unknown token" in analyse(*words, text="h8\n").stderr
    for more, status, told in (
        (["--bot=nobody"], 1, 'no bot "nobody"'),
        (["--bot=counting", "--time=60+1"], 1, '--time "60+1": on a server give a time for each'),
        (["--bot=counting", "--threads=2"], 2, "--threads is for bots of this machine"),
        (["--bot=counting", "--variant=renju 15x15"], 1, "the bot does not play renju"),
    ):
        done = analyse(*more, text="h8\n", **operator)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1), done
        assert told in done.stderr
    assert bot.stop() == 0
