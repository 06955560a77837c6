"""The lesson's notebook: its cells run, one after another, as they are printed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "lesson.ipynb"


def cells(kind: str) -> list[str]:
    """The texts of the cells of a kind."""
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text())
    return ["".join(each["source"]) for each in notebook["cells"] if each["cell_type"] == kind]


def test_the_cells_run() -> None:
    """Without a server, with the bare installation; and the bot at the end wins."""
    program = "\n\n".join(cells("code"))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "worth 0.0 after" in done.stdout or "worth 0 after" in done.stdout
    assert "10 of 10 won against chance" in done.stdout


def test_the_notebook_is_plain() -> None:
    """In the format that notebooks read, small, and without outputs of somebody's machine."""
    notebook = json.loads(NOTEBOOK.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    identities = [each["id"] for each in notebook["cells"]]
    assert len(identities) == len(set(identities))
    assert all(each.get("outputs", []) == [] for each in notebook["cells"])
    assert NOTEBOOK.stat().st_size < 20_000
    assert not any(len(line) > 100 for text in cells("code") for line in text.splitlines())
