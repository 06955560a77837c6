"""`meijin match --local` and `meijin demo` beside the settings of another server."""

from pathlib import Path

import pytest
from tests.system.processes import Processes

LOCAL = (
    ("match", "random", "random", "--local", "--games=2", "--data=mine", "--time=0.05/move"),
    ("demo", "--data=mine", "--time=0.05/move", "--rounds=1"),
)


def others(folder: Path) -> dict[str, str]:
    """Settings of another server, whose database is a folder that is not to be touched."""
    return {
        "MEIJIN_DATABASE_URL": f"sqlite:///{folder / 'other.db'}",
        "MEIJIN_REDIS_URL": f"unix://{folder / 'other.sock'}",
        "MEIJIN_DATA": str(folder / "other-data"),
        "MEIJIN_GRACE": "never",
        "MEIJIN_SERVER": "127.0.0.1:1",
        "MEIJIN_TOKEN": "secret",
    }


@pytest.mark.parametrize("words", LOCAL, ids=["match", "demo"])
def test_environment_of_another_server(processes: Processes, words: tuple[str, ...]) -> None:
    """What it names stays untouched, and what it asks for is not heard of."""
    done = processes.run(*words, **others(processes.folder))
    assert done.returncode == 0, done.stderr
    assert (processes.folder / "mine" / "meijin.db").exists()
    assert not list(processes.folder.glob("other*"))


@pytest.mark.parametrize("words", LOCAL, ids=["match", "demo"])
def test_file_of_another_server(processes: Processes, words: tuple[str, ...]) -> None:
    """A file of settings in the folder is that server's alone."""
    lines = [f"{name}={value}\n" for name, value in others(processes.folder).items()]
    (processes.folder / "meijin.env").write_text("".join(lines))
    done = processes.run(*words)
    assert done.returncode == 0, done.stderr
    assert (processes.folder / "mine" / "meijin.db").exists()
    assert not list(processes.folder.glob("other*"))


def test_a_file_of_settings_is_named(processes: Processes) -> None:
    """A server reads the file that it is told to, in place of the one in its folder."""
    (processes.folder / "meijin.env").write_text("MEIJIN_GRACE=never\n")
    (processes.folder / "club.env").write_text("MEIJIN_DURABILITY=never\n")
    done = processes.run("serve", "--env-file=club.env")
    assert done.returncode == 1
    assert "durability" in done.stderr
