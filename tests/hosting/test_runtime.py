"""The folders of the interpreter and its packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_folder_in_which_a_host_was_started_is_none_of_them(tmp_path: Path) -> None:
    """It may hold what no program is to read."""
    script = tmp_path / "start.py"
    script.write_text(
        "from meijin.hosting.runtime import runtime_folders\nprint(*runtime_folders(), sep='\\n')\n"
    )
    command = [sys.executable, script.name]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert str(tmp_path) not in said.stdout.splitlines()
    assert sys.prefix in said.stdout.splitlines()
