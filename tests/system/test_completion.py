"""Names that a shell completes, asked for as a shell asks."""

import socket
import subprocess
import sys
from pathlib import Path

from tests.system.processes import NO_LADDER, Processes, Server, environment, eventually


def completed(processes: Processes, words: str, **env: str) -> list[str]:
    """What the last of the words may become; nothing is said beside it."""
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    asked |= {"_MEIJIN_COMPLETE": "complete_bash", **env}
    done = subprocess.run(
        [Path(sys.executable).parent / "meijin"],
        cwd=processes.folder,
        env=environment(processes.folder, asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_names_of_bots(processes: Processes) -> None:
    """Those built in, files of the folder, and bots of a server that answers."""
    (processes.folder / "alice.py").touch()
    server = Server(processes, NO_LADDER, "--open")
    at = {"MEIJIN_SERVER": server.address}
    assert processes.run("bot", "register", "alfred", **at).returncode == 0
    # A machine that is busy may need a second try: the server is given 0.3 s.
    players = ["alfred", "alice.py", "alphabeta"]
    eventually(lambda: completed(processes, "meijin match al", **at) == players)
    eventually(lambda: completed(processes, "meijin tournament run al", **at) == ["alfred"])
    assert completed(processes, "meijin bot run al", **at) == ["alice.py", "alphabeta"]


def test_a_server_that_is_away_or_silent(processes: Processes) -> None:
    """Neither keeps a shell waiting, nor says a word in it."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at = f"127.0.0.1:{silent.getsockname()[1]}"
        assert completed(processes, "meijin match alp", MEIJIN_SERVER=at) == ["alphabeta"]
    assert completed(processes, "meijin match alp", MEIJIN_SERVER=at) == ["alphabeta"]
    assert completed(processes, "meijin match alp", MEIJIN_SERVER="no:where") == ["alphabeta"]
