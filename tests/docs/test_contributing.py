"""What contributors are handed: forms, hooks and a container that fit the project."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.docs.conftest import Page

ROOT = Path(__file__).resolve().parents[2]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
CONTAINER: dict[str, Any] = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
FIELDS = {"textarea", "input", "dropdown", "checkboxes"}


def is_target(command: str) -> bool:
    """Whether the Makefile can carry a command out."""
    make, target = command.split()
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return make == "make" and target in targets


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_forms_can_be_filled_in(form: Path) -> None:
    """A form has a name, and each of its fields a label and an id of its own."""
    content: dict[str, Any] = yaml.safe_load(form.read_text())
    assert all(content[key] for key in ("name", "description", "labels"))
    fields = [part for part in content["body"] if part["type"] != "markdown"]
    assert {field["type"] for field in fields} <= FIELDS
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)


def test_there_is_a_form_for_bugs_and_one_for_features() -> None:
    """And a text that a pull request begins with."""
    assert [form.stem for form in FORMS] == ["bug", "feature"]
    assert "`make test`" in (ROOT / ".github" / "pull_request_template.md").read_text()


def test_hook_runs_the_checks_of_the_makefile() -> None:
    """Before a commit runs what `make check` runs, and no other list of checks."""
    content = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    (repository,) = content["repos"]
    (hook,) = repository["hooks"]
    assert (repository["repo"], hook["language"]) == ("local", "system")
    assert hook["entry"] == "make check"
    assert is_target(hook["entry"])
    assert not hook["pass_filenames"]


def test_container_installs_the_project() -> None:
    """Its Python is new enough, and it installs what `make` installs."""
    name, _, version = CONTAINER["image"].partition(":")
    assert name == "python"
    assert tuple(int(part) for part in version.split(".")) >= (3, 11)
    assert is_target(CONTAINER["postCreateCommand"])


def test_container_has_postgresql_on_the_path() -> None:
    """No test is skipped in it."""
    needed = re.findall(r'shutil\.which\("(\w+)"\)', (ROOT / "tests/conftest.py").read_text())
    assert needed == ["initdb", "pg_ctl"]
    assert re.search(r"apt-get install .*\bpostgresql\b", CONTAINER["onCreateCommand"])
    for program in needed:
        link = rf"ln -s .*/usr/lib/postgresql/\*/bin/{program} .*/usr/local/bin$"
        assert re.search(link, CONTAINER["onCreateCommand"])


def test_container_has_an_environment_of_its_own() -> None:
    """What the machine has installed into `.venv` is for another Python."""
    (mount,) = CONTAINER["mounts"]
    assert {"target=${containerWorkspaceFolder}/.venv", "type=volume"} < set(mount.split(","))


def test_rooms_use_what_their_lines_name(pages: "Callable[[str], Page]") -> None:
    """The table of the rooms has all of them, and nothing in one imports another that it lacks."""
    rows = pages("CONTRIBUTING.md").table("## The house")
    used = {}
    for room, content, uses in rows:
        found = re.match(r"`meijin\.(\w+)`", content)
        used[found[1] if found else room.strip("`/")] = set(re.findall(r"`(\w+)`", uses))
    assert set(used) == {path.parent.name for path in ROOT.glob("*/meijin")} | {"testing"}
    for package in ROOT.glob("*/meijin/*/"):
        room = package.name if package.name in used else package.parents[1].name
        source = "".join(path.read_text() for path in package.rglob("*.py"))
        names = set(re.findall(r"^ *(?:from|import) meijin\.(\w+)", source, re.MULTILINE))
        rooms = {"proto" if name in {"v1", "wire"} else name for name in names}
        assert rooms - {room} <= used[room], package


def test_every_make_target_is_phony() -> None:
    """No file of the same name keeps a target from being made."""
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", text, re.MULTILINE))
    (phony,) = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    assert set(phony.split()) == targets
