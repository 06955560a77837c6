"""The command line: its ways in, and what it says where a server gives no answer."""

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

import grpc
import pytest

from meijin.cli.main import main

BIN = Path(sys.executable).parent
IN_BASH = """
eval "$(_MEIJIN_COMPLETE=source_bash meijin)"
COMP_WORDS=(meijin tourn) COMP_CWORD=1
_meijin_completion meijin
echo "${COMPREPLY[@]}"
"""
"""What bash does when the command of a tournament is begun and completed."""
ENDLESS_END = """
import sys, threading

from meijin.cli.main import main

def stay():
    threading.main_thread().join()
    print("ending", flush=True)
    threading.Event().wait()

threading.Thread(target=stay).start()
sys.argv = ["meijin", "--version"]
main()
"""
"""A command whose process is held by a thread when it is done."""
QUESTIONS = {
    "bash": {"COMP_WORDS": "meijin tourn", "COMP_CWORD": "1"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "meijin tourn"},
    "fish": {"_TYPER_COMPLETE_ARGS": "meijin tourn", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}
"""How each shell asks the same."""


def run(*words: str | Path, **environment: str) -> str:
    """What a command prints."""
    known = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(
        words, env=known | environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_module_is_the_command() -> None:
    """`python -m meijin` is `meijin`."""
    assert run(sys.executable, "-m", "meijin", "--version") == f"meijin {version('meijin')}\n"


@pytest.mark.parametrize("words", [["-h"], ["match", "-h"], ["game", "show", "-h"]])
def test_short_help(words: list[str]) -> None:
    """``-h`` is ``--help`` everywhere, and ``-V`` the version."""
    assert "Usage: python -m meijin" in run(sys.executable, "-m", "meijin", *words)
    assert run(sys.executable, "-m", "meijin", "-V") == f"meijin {version('meijin')}\n"


def test_bash_completes() -> None:
    """With what `meijin` writes for it, bash knows the commands."""
    assert run("bash", "-c", IN_BASH) == "tournament\n"


@pytest.mark.parametrize("shell", QUESTIONS)
def test_shells_get_scripts_and_answers(shell: str) -> None:
    """What is written for a shell asks `meijin`, which answers in the shell's own form."""
    asked = f"complete_{shell}"
    script = run(BIN / "meijin", _MEIJIN_COMPLETE=f"source_{shell}")
    assert f"_MEIJIN_COMPLETE={asked}" in script
    assert all(name in script for name in QUESTIONS[shell])
    assert "tournament" in run(BIN / "meijin", _MEIJIN_COMPLETE=asked, **QUESTIONS[shell])


def test_a_signal_at_the_very_end_leaves_no_traceback() -> None:
    """The interpreter waits for its threads when the command is done: SIGTERM ends it there."""
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS_END], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"meijin ")
        assert process.stdout.readline() == b"ending\n"
        process.terminate()
        _, words = process.communicate(timeout=30)
    assert (process.returncode, words) == (-signal.SIGTERM, b"")


def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, port: int) -> str:
    """What `meijin bot list` says of a server that can't tell."""
    monkeypatch.setattr("signal.signal", lambda *_: None)  # main would keep SIGTERM to itself
    monkeypatch.setattr(sys, "argv", ["meijin", "bot", "list", f"--server=127.0.0.1:{port}"])
    with pytest.raises(SystemExit) as raised:
        main()
    assert raised.value.code == 1
    return capsys.readouterr().err


def test_a_server_of_something_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows none of our methods: then the address is wrong."""
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        line = said(capsys, monkeypatch, port)
    finally:
        server.stop(None).wait()
    assert "no Meijin server" in line
    assert "check the address and the port" in line


def test_a_server_that_says_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for for a time, and then the address may be wrong."""
    monkeypatch.setattr("meijin.arena.connection.RPC_TIMEOUT", timedelta(seconds=0.2))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        line = said(capsys, monkeypatch, listener.getsockname()[1])
    assert line.startswith("meijin: no answer in ")
    assert "check the address and the port" in line
