"""The built wheel in environments of its own: bare, and with all that its extras bring."""

import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path

import pytest
from tests.system.processes import PATIENCE, environment

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(str(distribution("grpcio").locate_file(""))).resolve()
"""Where the tests' own dependencies are installed."""
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
FOR_OTHERS = re.compile(r"extra ==|sys_platform|platform_system|python_version")
"""What tells that a requirement is for an extra, or for other systems and releases of Python."""
NAME = re.compile(r"[\w.-]+")
NEED_A_SERVER = (
    ("demo",),
    ("match", "random", "random", "--local"),
    ("serve",),
    ("worker", "--database=sqlite:///x.db", "--redis=redis://127.0.0.1:1"),
)


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel, and a folder to be in."""

    python: Path
    folder: Path

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a `meijin` command to its end."""
        command = (str(self.python), "-I", "-m", "meijin", *words)
        return subprocess.run(
            command,
            cwd=self.folder,
            env=environment(self.folder, {"PYTHONDONTWRITEBYTECODE": ""}),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
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
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--quiet", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}")
    subprocess.run([*PIP, "wheel", *options, ROOT], check=True, capture_output=True)
    (found,) = folder.glob("meijin-*.whl")
    return found


def installed(wheel: Path, folder: Path, dependencies: Path) -> Installed:
    """The wheel in an environment of its own, which sees these dependencies."""
    place = folder / "venv"
    venv.create(place)
    options = ("install", "--quiet", "--no-deps", "--no-index", wheel)
    subprocess.run([*PIP, "--python", place, *options], check=True, capture_output=True)
    (site,) = (place / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    return Installed(place / "bin" / "python", folder)


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with what it needs, and no extra."""
    folder = tmp_path_factory.mktemp("bare")
    link_requirements(folder / "dependencies")
    return installed(wheel, folder, folder / "dependencies")


def test_bare_installation(bare: Installed) -> None:
    """It has the commands, the SDK and two bots."""
    assert bare.run("--version").stdout == f"meijin {version('meijin')}\n"
    assert "Run the match server" in bare.run("--help").stdout
    assert bare.run("learn", "tree").returncode == 0
    made = bare.run("bot", "new", "my-bot")
    assert made.returncode == 0, made.stderr
    assert "my_bot.py" in made.stdout
    refused = bare.run("bot", "run", "alphabeta")
    assert refused.stderr == "meijin: alphabeta needs numba; pip install 'meijin[bots]'\n"


@pytest.mark.parametrize("words", NEED_A_SERVER, ids=" ".join)
def test_a_missing_extra_is_said_first(bare: Installed, words: tuple[str, ...]) -> None:
    """In one line that says what to install, before anything starts or is made."""
    before = set(bare.folder.iterdir())
    refused = bare.run(*words)
    assert refused.returncode == 1
    assert refused.stdout == ""
    (line,) = refused.stderr.splitlines()
    assert re.fullmatch(
        r"meijin: \w+ is not installed; run: pip install 'meijin\[server\]', "
        r"or pip install '\.\[server\]' in a checkout",
        line,
    )
    assert set(bare.folder.iterdir()) == before


@pytest.mark.smoke
def test_a_local_game_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Server, migrations, worker and bots are all in it."""
    full = installed(wheel, tmp_path, SHARED)
    assert full.run("bot", "new", "my-bot").returncode == 0
    played = full.run("match", "my_bot.py", "random", "--local", "--games=2")
    assert played.returncode == 0, played.stderr
    assert " of 2 (" in played.stdout
