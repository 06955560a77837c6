"""Adding a column of the ladder, a setting of tournaments and a call touches few files.

Each is added in a copy of the tree, which is then run: what `docs/adding.md` promises.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.processes import Commands, Processes, environment, eventually
from tests.store.first_release import first_release

ROOT = Path(__file__).resolve().parents[1]
ROOMS = tuple(path.parent for path in sorted(ROOT.glob("*/meijin")))
MIGRATIONS = "store/meijin/store/migrations/versions"

MIGRATION = '''"""A new column."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step."""
    op.add_column("{table}", sa.Column("{name}", {kind}))
'''

Edits = dict[str, dict[str, str]]
"""By the file: lines that are there, and what follows each then."""

COLUMN: Edits = {
    "store/meijin/store/schema/runs.py": {
        "    faults: Field[int]\n": "    last_day: Field[int | None] = column(default=None)\n",
    },
    "proto/meijin/v1/ladder_service.proto": {
        "message Standing {\n": """\
  // The ordinal of the day of its last rated game, in the proleptic calendar.
  uint32 last_day = 900;
""",
    },
    "proto/meijin/wire/standings.py": {
        "_COLUMNS = (\n": """\
    Column("last", "last day", "The day of its last game.", lambda row: row.last_day, "d"),
""",
    },
}
SETTING: Edits = {
    "store/meijin/store/schema/tournaments.py": {
        'It is cancelled when a bot has forfeited this many games; 0 for never."""\n': """\
    motto: str = ""
""",
        '    max_faults: Field[int] = column(default=0, server_default="0")\n': """\
    motto: Field[str] = column(String(100), default="", server_default="")
""",
    },
    "proto/meijin/v1/tournament_service.proto": {
        "message TournamentSettings {\n": """\
  // Shown with it.
  string motto = 900;
""",
    },
    "cli/meijin/cli/options.py": {
        "    max_faults: MaxFaultsOption = 0\n": """\
    motto: Annotated[str, "Shown with it."] = ""
""",
        "            max_faults=self.max_faults,\n": "            motto=self.motto,\n",
    },
}
CALL: Edits = {
    "proto/meijin/v1/owner_service.proto": {
        "service OwnerService {\n": """\
  // How many owners there are.
  rpc CountOwners(CountOwnersRequest) returns (CountOwnersResponse) {
    option (permission) = PERMISSION_READER;
    option (http) = "GET /owner-count";
  }
""",
        "// An invitation, without its secret.\n": """\
message CountOwnersResponse {
  // How many.
  uint32 owners = 1;
}

// Nothing.
message CountOwnersRequest {}

// An invitation.
""",
    },
    "store/meijin/store/access/owners.py": {
        "": """

def count_owners(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(Owner)) or 0
""",
    },
    "server/meijin/server/api/services/owners.py": {
        "from meijin.store.access.owners import list_owners\n": """\
from meijin.store.access.owners import count_owners
""",
        "class OwnerServicer(OwnerServiceServicer):\n": """\
    async def CountOwners(self, request, context):
        return pb.CountOwnersResponse(owners=await self._storage.read(count_owners))

""",
    },
    "web/meijin/web/pages/status.py": {
        "from meijin.v1 import status_service_pb2 as pb\n": """\
from meijin.v1 import owner_service_pb2
""",
        'ROUTES = (Page("/status", show),)\n': """

async def count(request: PageRequest) -> LazyPage:
    asked = owner_service_pb2.CountOwnersRequest()
    found = await request.services.owners.CountOwners(asked)
    return request.page("owner_count.html", found=found)


ROUTES = (*ROUTES, Page("/owner-count", count))
""",
    },
    "web/meijin/web/strings/status.toml": {"": 'owners = "Owners: {count}"\n'},
    "cli/meijin/cli/access/admin.py": {
        "app = Commands()\n": """

@app.command()
def count(connection: Connection) -> Output:
    '''Count the owners.'''
    asked = owner_pb.CountOwnersRequest()
    found = connection.ask_with_token(connection.owners.CountOwners, asked)
    return Output(found, [str(found.owners)])
""",
    },
}
TEMPLATE = (
    '{% extends "base.html" %}\n{% block title %}{{ t("status.title") }}{% endblock %}\n'
    '{% block main %}<p>{{ t("status.owners", count=found.owners) }}</p>{% endblock %}\n'
)
MOST = {"column": (COLUMN, 1, 4), "setting": (SETTING, 1, 5), "call": (CALL, 1, 7)}
"""The edits, how many files are new beside them, and how many there may be in all."""


@pytest.mark.parametrize("kind", MOST)
def test_few_files_are_touched(kind: str) -> None:
    """No more than the page says."""
    edits, new, most = MOST[kind]
    assert len(edits) + new <= most


def edit(root: Path, edits: Edits) -> None:
    """Add lines behind those that are there; behind all of a file where none is named."""
    for name, parts in edits.items():
        text = (root / name).read_text()
        for line, added in parts.items():
            assert text.count(line) == 1 or not line, f"{name}: {line}"
            text = text.replace(line, line + added) if line else text + added
        (root / name).write_text(text)


def add_column(root: Path, table: str, name: str, kind: str) -> None:
    folder = root / MIGRATIONS
    before = max(path.name for path in folder.glob("[0-9]*.py"))[:4]
    revision = f"{int(before) + 1:04}"
    text = MIGRATION.format(revision=revision, before=before, table=table, name=name, kind=kind)
    (folder / f"{revision}_{name}.py").write_text(text)


@pytest.fixture
def tree(tmp_path: Path) -> Commands:
    """A copy with a column, a setting and a call more, and with the code of its protos."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "benchmarks/")):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    for edits, _, _ in MOST.values():
        edit(tmp_path, edits)
    add_column(tmp_path, "rating", "last_day", "sa.Integer()")
    add_column(tmp_path, "tournament", "motto", "sa.String(100), nullable=False, server_default=''")
    (tmp_path / "web/meijin/web/templates/owner_count.html").write_text(TEMPLATE)
    paths = os.pathsep.join(str(tmp_path / path.relative_to(ROOT)) for path in ROOMS)
    made = Commands(tmp_path, PYTHONPATH=paths, COLUMNS="300")
    generate = (sys.executable, "scripts/generate.py")
    subprocess.run(generate, cwd=tmp_path, env=environment(tmp_path, made.env), check=True)
    return made


@pytest.fixture
def page(tree: Commands) -> Iterator[str]:
    """Where a server of the copy has its pages, with two bots."""
    processes = Processes(tree.folder)
    options = ("--open", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0")
    try:
        server = processes.start("server", "serve", *options, **tree.env)
        server.wait_for("pages for browsers are at ")
        (address,) = re.findall(r"listening on (\S+)", server.words)
        tree.env["MEIJIN_SERVER"] = address
        for name in ("ada", "bob"):
            bot = processes.start(name, "bot", "run", "random", "--name", name, **tree.env)
            bot.wait_for("connected as")
        yield re.findall(r"browsers are at (\S+)", server.words)[0]
    finally:
        processes.kill_all()


@pytest.mark.smoke
def test_a_copy_with_one_of_each_runs(tree: Commands, page: str) -> None:
    """From the database to the terminal and the page."""
    words = ("ada", "bob", "--variant", "5x5", "--time", "5/move", "--motto", "play on")
    made = tree.ask("tournament", "run", *words)
    shown = tree.ask("tournament", "show", made["tournament"]["tournament_id"])
    assert shown["tournament"]["settings"]["motto"] == "play on"
    eventually(lambda: "ada" in tree.tell("ladder"))
    line = tree.ask("ladder")["standings"][0]
    assert line["last_day"] > 700_000
    table = tree.tell("ladder")
    assert "last day" in table
    assert str(line["last_day"]) in table
    assert tree.tell("admin", "count").strip() == "0"
    with urlopen(f"{page}/owner-count") as answer:
        assert "Owners: 0" in answer.read().decode()


@pytest.mark.smoke
def test_runs_of_before_a_column_are_verified(tree: Commands, tmp_path: Path) -> None:
    """They lack what their release did not compute, and all else is compared to the last byte."""
    with first_release(tmp_path) as database:
        url = str(database.url)
    code = f"from meijin.store import Database; Database({url!r}).migrate()"
    env = environment(tree.folder, tree.env)
    subprocess.run((sys.executable, "-c", code), cwd=tree.folder, env=env, check=True)
    assert tree.ask("ladder", "verify", "--database", url, "--run", "1")["differences"] == []
