"""The lists of folders in the project's files name the folders that there are."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from tests.conftest import LONG

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOOLS: dict[str, Any] = PROJECT["tool"]
ROOMS = {
    path.parent.name for path in ROOT.glob("*/meijin") if next(path.rglob("*.py"), None) is not None
}
"""The folders that the namespace `meijin` is spread over."""
ROOTS = set(TOOLS["importlinter"]["root_packages"])
WALLS: list[dict[str, Any]] = TOOLS["importlinter"]["contracts"]
MODULES = {"benchmarks", "scripts"}
"""Folders of programs, which tests import by their names."""
PROGRAMS = MODULES | {"examples"}


def unique(names: list[str]) -> set[str]:
    assert len(names) == len(set(names))
    return set(names)


def test_rooms_are_parts_of_one_namespace() -> None:
    """No folder `meijin` is a package of its own, which would hide the others."""
    assert "game" in ROOMS
    assert list(ROOT.glob("*/meijin/__init__.py")) == []


PATHS = TOOLS["mypy"]["mypy_path"].replace("$MYPY_CONFIG_FILE_DIR/", "").split(":")
CODE = re.findall(r"^CODE := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0].split()


@pytest.mark.parametrize(
    ("listed", "wanted"),
    [
        (TOOLS["hatch"]["build"]["dev-mode-dirs"], ROOMS),
        (
            TOOLS["hatch"]["build"]["targets"]["wheel"]["packages"],
            {f"{room}/meijin" for room in ROOMS},
        ),
        (TOOLS["pytest"]["ini_options"]["pythonpath"], ROOMS | MODULES),
        (PATHS, ROOMS | MODULES),
        (TOOLS["mypy"]["files"], ROOMS | PROGRAMS | {"tests"}),
        (TOOLS["ruff"]["src"], ROOMS),
        (CODE, ROOMS - {"proto"} | PROGRAMS | {"tests"}),
    ],
    ids=["editable", "wheel", "pytest", "mypy-path", "mypy", "ruff", "make"],
)
def test_every_tool_knows_every_room(listed: list[str], wanted: set[str]) -> None:
    assert unique(listed) == wanted


def test_coverage_is_of_every_room_with_traced_tests() -> None:
    """Of `bots` the SDK, of `proto` what is not generated; not those that processes alone reach."""
    sources = unique(TOOLS["coverage"]["run"]["source"])
    parts = {source for source in sources if "/" in source}
    assert parts == {"bots/meijin/bots/sdk", "proto/meijin/wire"}
    assert all((ROOT / source).is_dir() for source in sources)
    assert {source.partition("/")[0] for source in sources} == ROOMS - {
        "game",
        "local",
        "worker",
        "hosting",
        "web",
        "cli",
    }


def test_every_test_is_run_by_one_of_two_commands() -> None:
    """The markers part them, so that none is left out; the folders that they name are there."""
    makefile = (ROOT / "Makefile").read_text()
    (untraced,) = re.findall(r"^UNTRACED := \$\(addprefix tests/,(.+)\)$", makefile, re.MULTILINE)
    assert all((ROOT / "tests" / folder).is_dir() for folder in untraced.split())
    assert all((ROOT / "tests" / name).exists() for name in LONG)
    assert '\t$(PYTEST) -m "not long" tests\n' in makefile
    assert "\t$(PYTEST) -m long tests\n" in makefile


def test_properties_have_no_deadline() -> None:
    """Whichever folders are run, a busy machine fails no test of a property."""
    assert hypothesis.settings().deadline is None


def test_walls_stand_around_every_package() -> None:
    """The contracts of imports know all packages."""
    packages = {path.parent for room in ROOMS for path in (ROOT / room).glob("meijin/*/*.py")}
    wanted = {f"meijin.{path.name}" for path in packages}
    assert unique(TOOLS["importlinter"]["root_packages"]) == wanted
    (acyclic,) = (wall for wall in WALLS if wall["type"] == "acyclic_siblings")
    assert unique(acyclic["ancestors"]) == wanted


def test_walls_let_nobody_else_through() -> None:
    """What may use few packages is kept from all others of ours, those to come included."""
    allowed = {}
    for wall in WALLS:
        if wall["type"] == "forbidden" and re.search(r"(?:alone|none)\b", wall["name"]):
            (source,) = wall["source_modules"]
            own = {root for root in ROOTS if f"{source}.".startswith(f"{root}.")}
            allowed[source] = ROOTS - own - unique(wall["forbidden_modules"])
    assert allowed == {
        "meijin.game": set(),
        "meijin.wire": {"meijin.game", "meijin.v1"},
        "meijin.bots": {"meijin.game", "meijin.v1", "meijin.wire"},
        "meijin.bots.reference": {"meijin.game"},
        "meijin.ladder.statistics": set(),
        "meijin.programs": set(),
        "meijin.store": {"meijin.game", "meijin.programs"},
    }


def test_wall_around_the_statistics_names_every_other_module() -> None:
    """The rating mathematics is kept from the rest of its room."""
    room, package = ROOT / "ladder/meijin/ladder", "meijin.ladder.statistics"
    others = {path.stem for path in room.glob("[!_]*.py")}
    others |= {path.parent.name for path in room.glob("*/__init__.py")} - {"statistics"}
    (wall,) = (wall for wall in WALLS if wall.get("source_modules") == [package])
    named = {name for name in unique(wall["forbidden_modules"]) if "meijin.ladder." in name}
    assert named == {f"meijin.ladder.{name}" for name in others}


def test_folders_with_rules_of_their_own_exist() -> None:
    """No exception from a rule of style outlives the files that it was made for."""
    for pattern in TOOLS["ruff"]["lint"]["per-file-ignores"]:
        assert next(ROOT.glob(pattern), None) is not None, pattern


PACKAGES = [
    path.parent
    for room in ROOMS
    for path in (ROOT / room).rglob("__init__.py")
    if path.parent.name not in {"v1", "migrations", "versions"}  # others say what is in these
]
MOST_MODULES = 16
"""Of a package."""


def test_packages_tell_of_their_modules() -> None:
    """A package names each module in it, so that a subject is read from its door."""
    assert ROOT / "store/meijin/store" in PACKAGES
    for package in PACKAGES:
        tree = ast.parse((package / "__init__.py").read_text())
        told = set(re.findall(r"`(\w+)`", ast.get_docstring(tree) or ""))
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                told |= {str(node.module).rpartition(".")[2], *(name.name for name in node.names)}
        modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
        assert modules <= told, f"{package.relative_to(ROOT)}: {sorted(modules - told)}"
        assert len(modules) <= MOST_MODULES, package.relative_to(ROOT)
