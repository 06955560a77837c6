"""The lesson's notebook: its cells run, one after another, as they are printed."""

import json
import subprocess
import sys

from tests.docs.pages import ROOT

NOTEBOOK = ROOT / "docs" / "lesson.ipynb"


def test_the_cells_run() -> None:
    """Without a server, with the bare installation, no outputs kept; the bot at the end wins."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert all(each.get("outputs", []) == [] for each in cells)
    program = "\n\n".join("".join(each["source"]) for each in cells if each["cell_type"] == "code")
    assert not any(len(line) > 100 for line in program.splitlines())
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "worth 0.0 after" in done.stdout or "worth 0 after" in done.stdout
    assert "10 of 10 won against chance" in done.stdout
