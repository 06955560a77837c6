"""Writes the lock files: every version pinned with its hashes, and no address of any index.

    python scripts/lock.py

`requirements.lock` holds what runs the server and the bots and builds the package,
`requirements-dev.lock` what the checks and tests need besides, extras that tests need among it.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (
    *(sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml"),
    *("--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-strip-extras"),
    *("--custom-compile-command", "make lock"),
)
EXTRAS = ("--extra", "server", "--extra", "bots", "--extra", "hosting", "--extra", "plots")

LOCKS = {
    "requirements.lock": (*EXTRAS, "--group", "build"),
    "requirements-dev.lock": (
        *(*EXTRAS, "--extra", "s3", "--extra", "tracing"),
        *("--group", "build", "--group", "dev"),
        *("--constraint", "requirements.lock"),
    ),
}

if __name__ == "__main__":
    for name, selection in LOCKS.items():
        subprocess.run([*COMMAND, *selection, "--output-file", name], cwd=ROOT, check=True)
