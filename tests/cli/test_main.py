"""The ways in to the command line: as a module, and from a shell that completes."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
IN_BASH = """
eval "$(_MEIJIN_COMPLETE=source_bash meijin)"
COMP_WORDS=(meijin tourn) COMP_CWORD=1
_meijin_completion meijin
echo "${COMPREPLY[@]}"
"""
"""What bash does when the command of a tournament is begun and completed."""
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
