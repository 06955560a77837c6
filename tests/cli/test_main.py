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
    "zsh": {"_TYPER_COMPLETE_ARGS": "meijin tourn"},
    "fish": {"_TYPER_COMPLETE_ARGS": "meijin tourn", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}
"""How other shells ask the same."""


def run(*words: str | Path, **environment: str) -> str:
    env = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"} | environment
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_module_is_the_command(flag: str) -> None:
    assert run(sys.executable, "-m", "meijin", flag) == f"meijin {version('meijin')}\n"


@pytest.mark.parametrize("words", [["-h"], ["match", "-h"], ["game", "show", "-h"]])
def test_short_help(words: list[str]) -> None:
    assert "Usage: python -m meijin" in run(sys.executable, "-m", "meijin", *words)


def test_bash_completes() -> None:
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


@pytest.mark.parametrize(
    ("has_server", "said"), [(True, "no Meijin server"), (False, "meijin: no answer in ")]
)
def test_what_does_not_answer_as_a_server_does(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    has_server: bool,
    said: str,
) -> None:
    """A gRPC server of something else, and what listens and says nothing."""
    if not has_server:
        monkeypatch.setattr("meijin.local.connection.RPC_TIMEOUT", timedelta(seconds=0.2))
    monkeypatch.setattr("signal.signal", lambda *_: None)  # main would keep SIGTERM to itself
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        asked = port if has_server else listener.getsockname()[1]
        monkeypatch.setattr(sys, "argv", ["meijin", "bot", "list", f"--server=127.0.0.1:{asked}"])
        try:
            with pytest.raises(SystemExit) as raised:
                main()
        finally:
            server.stop(None).wait()
    assert raised.value.code == 1
    line = capsys.readouterr().err
    assert said in line
    assert "check the address and the port" in line
