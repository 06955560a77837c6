"""What is left of a host that is killed, with real processes: nothing."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from tests.processes import eventually
from tests.programs.sandbox import attacks
from tests.programs.sandbox.laboratory import PYTHON, is_alive, kill, skip_without

from meijin.programs.sandbox.bubblewrap import BubblewrapSandbox
from meijin.programs.sandbox.janitor import clean_up

HOST = Path(__file__).with_name("host_in_test.py")


@dataclass(frozen=True, slots=True)
class Host:
    """A running host, and what is there of it."""

    process: subprocess.Popen[str]
    janitor: int
    launchers: list[int]
    pids: list[int]
    """Of the programs, with the launchers."""
    folders: list[Path]

    @property
    def told(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def is_gone(self) -> bool:
        """Whether no process, no control group and no folder is left of it."""
        pids = [self.process.pid, self.janitor, *self.pids]
        return not any(map(is_alive, pids)) and not any(map(Path.exists, self.folders))

    def is_in_no_mount(self) -> bool:
        """Whether no file system of this process's namespace names its folder."""
        return str(self.folders[0]) not in Path("/proc/self/mountinfo").read_text()


@pytest.fixture
def host() -> Iterator[Host]:
    skip_without(BubblewrapSandbox().check())
    with tempfile.TemporaryDirectory(prefix="meijin-tree-") as tree:
        shutil.copy(attacks.__file__, tree)
        Path(tree).chmod(0o755)
        command = [sys.executable, str(HOST), tree, str(PYTHON)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            facts: dict[str, Any] = json.loads(process.stdout.readline())
            folders = [Path(folder) for folder in facts.pop("folders")]
            host = Host(process, folders=folders, **facts)
            try:
                yield host
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                eventually(host.is_gone)


def test_nothing_is_left_of_a_killed_host(host: Host) -> None:
    """Its programs die, a frozen one too, and its groups, mounts and folders go."""
    assert all(map(is_alive, host.pids))
    assert host.is_in_no_mount()
    host.process.kill()
    host.process.wait()
    eventually(host.is_gone)


def test_nothing_is_left_when_the_host_is_killed_standing_still(host: Host) -> None:
    """A host that was stopped and is killed then dies all the same."""
    host.process.send_signal(signal.SIGSTOP)
    host.process.kill()
    eventually(host.is_gone)


def test_janitor_alone_kills_what_a_killed_host_leaves(host: Host) -> None:
    """Without a janitor the groups and folders of a killed host stay; who comes later can clean."""
    host.process.send_signal(signal.SIGSTOP)  # it starts no other
    kill(host.janitor)
    host.process.kill()
    host.process.wait()
    assert all(map(Path.exists, host.folders))
    assert clean_up(host.folders[0], host.folders[1:])
    eventually(host.is_gone)


def test_killed_janitor_is_started_again(host: Host) -> None:
    """The next one does what the first would have done."""
    kill(host.janitor)
    janitor = json.loads(host.told.readline())["janitor"]
    assert is_alive(janitor)
    host.process.kill()
    eventually(host.is_gone)
    eventually(lambda: not is_alive(janitor))


def test_janitor_heeds_no_signal_of_a_terminal(host: Host) -> None:
    """What ends the host politely leaves the janitor until the host has gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        subprocess.run(["/bin/kill", f"-{number.name[3:]}", str(host.janitor)], check=True)
    host.process.kill()
    eventually(host.is_gone)


def test_killed_launcher_leaves_the_others_alone(host: Host) -> None:
    """The program of a killed launcher dies; the host, its janitor and the other one live."""
    kill(host.launchers[0])
    groups = [folder / "awake" for folder in host.folders[1:]]
    eventually(lambda: not any(map(Path.exists, groups)))
    assert is_alive(host.launchers[1])
    assert is_alive(host.janitor)
    assert is_alive(host.process.pid)


def test_cleaning_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    """After a host that has ended well all is gone already."""
    assert clean_up(tmp_path / "folder", [tmp_path / "group"])
