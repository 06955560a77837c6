"""Names that a shell completes, asked for as a shell asks."""

import socket
import subprocess
import sys
from pathlib import Path

from tests.processes import Commands, Processes, environment, eventually
from tests.system.server import Server


def completed(commands: Commands, words: str, **env: str) -> list[str]:
    """What the last of the words may become; nothing is said beside it."""
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    asked |= {"_MEIJIN_COMPLETE": "complete_bash", **commands.env, **env}
    done = subprocess.run(
        [Path(sys.executable).parent / "meijin"],
        cwd=commands.folder,
        env=environment(commands.folder, asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_names_of_bots(server: Server) -> None:
    """Those built in, files of the folder, and bots of a server that answers."""
    (server.folder / "alice.py").touch()
    server.tell("bot", "register", "alfred")
    # A machine that is busy may need a second try: the server is given 0.3 s.
    players = ["alfred", "alice.py", "alphabeta"]
    eventually(lambda: completed(server, "meijin match al") == players)
    eventually(lambda: completed(server, "meijin tournament run al") == ["alfred"])
    assert completed(server, "meijin bot run al") == ["alice.py", "alphabeta"]


def test_a_server_that_is_away_or_silent(processes: Processes) -> None:
    """Neither keeps a shell waiting, nor says a word in it."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at = f"127.0.0.1:{silent.getsockname()[1]}"
        assert completed(processes, "meijin match alp", MEIJIN_SERVER=at) == ["alphabeta"]
    for address in (at, "no:where"):
        assert completed(processes, "meijin match alp", MEIJIN_SERVER=address) == ["alphabeta"]
