"""The built wheel in environments of its own: bare, and with all that its extras bring."""

import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import distribution, version
from pathlib import Path

import pytest
from tests.processes import Commands

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(str(distribution("grpcio").locate_file(""))).resolve()
"""Where the tests' own dependencies are installed."""
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
FOR_OTHERS = re.compile(r"extra ==|sys_platform|platform_system|python_version")
"""What tells that a requirement is for an extra, or for other systems and releases of Python."""
NAME = re.compile(r"[\w.-]+")
NEED_A_SERVER = (
    "class copies CS101",
    "demo",
    "match random random --local",
    "tune random --param=seed=1..9",
    "serve",
    "worker --database=sqlite:///x.db --redis=redis://127.0.0.1:1",
)


def requirements(name: str) -> Iterator[str]:
    """What a distribution needs without any extra, and what that needs; some names come twice."""
    for line in distribution(name).requires or ():
        if not FOR_OTHERS.search(line):
            found = NAME.match(line)
            assert found is not None
            yield found[0]
            yield from requirements(found[0])


def link_requirements(folder: Path) -> None:
    """Put links to what the bare installation has into a folder."""
    folder.mkdir()
    for name in set(requirements("meijin")):
        for file in distribution(name).files or ():
            top = folder / file.parts[0]
            if file.parts[0] != ".." and not top.exists():
                top.symlink_to(SHARED / file.parts[0])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--quiet", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}")
    subprocess.run([*PIP, "wheel", *options, ROOT], check=True, capture_output=True)
    (found,) = folder.glob("meijin-*.whl")
    return found


def installed(wheel: Path, folder: Path, dependencies: Path) -> Commands:
    """The wheel's command in an environment of its own, which sees these dependencies."""
    place = folder / "venv"
    venv.create(place)
    options = ("install", "--quiet", "--no-deps", "--no-index", wheel)
    subprocess.run([*PIP, "--python", place, *options], check=True, capture_output=True)
    (site,) = (place / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    commands = Commands(folder, PYTHONDONTWRITEBYTECODE="")
    commands.command = (str(place / "bin" / "python"), "-I", "-m", "meijin")
    return commands


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Commands:
    folder = tmp_path_factory.mktemp("bare")
    link_requirements(folder / "dependencies")
    return installed(wheel, folder, folder / "dependencies")


def test_bare_installation(bare: Commands) -> None:
    """It has the commands, the SDK and two bots."""
    assert bare.tell("--version") == f"meijin {version('meijin')}\n"
    assert "Run the match server" in bare.tell("--help")
    bare.tell("learn", "tree")
    bare.tell("class", "--help")
    assert "my_bot.py" in bare.tell("bot", "new", "my-bot")
    refused = bare.refusal("bot", "run", "alphabeta")
    assert refused == "alphabeta needs numba; pip install 'meijin[bots]'"


@pytest.mark.parametrize("command", NEED_A_SERVER)
def test_a_missing_extra_is_said_first(bare: Commands, command: str) -> None:
    """In one line that says what to install, before anything starts or is made."""
    before = set(bare.folder.iterdir())
    assert re.fullmatch(
        r"this needs the server's parts, of which \w+ is not installed; run: "
        r"pip install 'meijin\[server\]', or pip install '\.\[server\]' in a checkout",
        bare.refusal(*command.split()),
    )
    assert set(bare.folder.iterdir()) == before


@pytest.mark.smoke
def test_a_local_game_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Server, migrations, worker and bots are all in it."""
    full = installed(wheel, tmp_path, SHARED)
    full.tell("bot", "new", "my-bot")
    assert " of 2 (" in full.tell("match", "my_bot.py", "random", "--local", "--games=2")
