"""The command line that starts a program in bubblewrap, with limits that need no control group.

A shell puts itself into the seat's groups and becomes each of the next ones: no function of ours
runs between fork and exec, which is not safe in a process with threads. Root's shell has a mount
namespace of its own, in which it gathers the folders that the program sees: bubblewrap then needs
no right to walk to them as the seat's own user, and the mounts end with the program.
"""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from meijin.programs.sandbox.running import SCRATCH, SOCKET, SOCKET_FOLDER, TREE, Launch

FIRST_UID = 60_000
"""Users that no distribution gives to anybody; a seat has one of those from here on."""
_INSIDE_UID = 1000
_ENTER = """\
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift
"""
_STAGE = "mount -n --all --fstab /dev/stdin || exit 125\n"
_GO_ON = 'exec "$@" < /dev/null\n'
PROGRAMS = ("sh", "prlimit", "setpriv", "unshare", "mount")
"""What the command line is made of, besides bubblewrap."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where on the machine a program is started."""

    bwrap: Path
    entries: Sequence[Path]
    """To which a process writes its id to be in the seat's groups."""
    stage: Path
    """An empty folder, where root gathers what the program sees."""
    uid: int | None
    """The seat's own user; ``None`` where the host is not root."""
    filter_descriptor: int | None
    """A file with the filter of system calls; ``None`` where there is none for this machine."""
    status_descriptor: int


def command_line(launch: Launch, place: Place) -> list[str]:
    """The words that start a program; a root's command reads `mount_table` from its input."""
    folders = _folders(launch)
    enter = [*map(str, place.entries), "--"]
    limits = _limits(launch)
    if place.uid is None:
        inside = _bubblewrap(launch, place, folders, place.bwrap)
        return [find_program("sh"), "-c", _ENTER + _GO_ON, "launch", *enter, *limits, *inside]
    staged = [place.stage / str(number) for number in range(len(folders))]
    bwrap = place.stage / str(len(folders)) / place.bwrap.relative_to(_home(place.bwrap))
    return [
        *(find_program("unshare"), "--mount", "--propagation=slave"),
        *(find_program("sh"), "-c", _ENTER + _STAGE + _GO_ON, "launch", *enter),
        *limits,
        *_as_user(place.uid),
        *_bubblewrap(launch, place, staged, bwrap),
    ]


def mount_table(launch: Launch, place: Place) -> str:
    """What root gathers in the stage, as a file in the form of fstab(5)."""
    stage = _field(place.stage)
    binds = (
        f"{_field(folder)} {stage}/{number} none bind,x-mount.mkdir 0 0\n"
        for number, folder in enumerate([*_folders(launch), _home(place.bwrap)])
    )
    return f"stage {stage} tmpfs mode=755 0 0\n" + "".join(binds)


def _field(path: Path) -> str:
    """A path as a field of fstab(5), in which blanks and backslashes are octal."""
    return re.sub(r"[\s\\#]", lambda found: f"\\{ord(found[0]):03o}", str(path), flags=re.ASCII)


def _folders(launch: Launch) -> Sequence[Path]:
    """What a program sees besides ``/usr``."""
    return [launch.tree, launch.socket_folder, *launch.runtime]


def _home(bwrap: Path) -> Path:
    """The folder with bubblewrap and its libraries: of the wheel that in which it is installed."""
    return bwrap.parents[2] if bwrap.parent.name == "_bin" else bwrap.parent


def _limits(launch: Launch) -> list[str]:
    limits = launch.limits
    return [
        find_program("prlimit"),
        "--core=0",
        f"--nofile={limits.files}",
        f"--fsize={limits.scratch_bytes}",
        "--memlock=65536",
        "--msgqueue=0",
    ]


def _as_user(uid: int) -> list[str]:
    return [
        find_program("setpriv"),
        f"--reuid={uid}",
        f"--regid={uid}",
        "--clear-groups",
        "--no-new-privs",
        "--pdeathsig=KILL",
        "--inh-caps=-all",
        "--bounding-set=-all",
    ]


def _bubblewrap(
    launch: Launch, place: Place, sources: Sequence[Path], bwrap: Path
) -> Sequence[str]:
    """Bubblewrap's own words; `sources` are the tree, the folder of the socket and the runtime."""
    tree, socket_folder, *runtime = map(str, sources)
    filter_descriptor = place.filter_descriptor
    return [
        *(str(bwrap), "--unshare-all", "--unshare-user", "--disable-userns"),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "bot"),
        *("--uid", str(_INSIDE_UID), "--gid", str(_INSIDE_UID)),
        *_environment(launch),
        *("--ro-bind", "/usr", "/usr"),
        *_links(),
        *("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
        # before the runtime, whose folders may lie in it
        *("--size", str(launch.limits.scratch_bytes), "--tmpfs", str(SCRATCH)),
        *(
            word
            for source, folder in zip(runtime, launch.runtime, strict=True)
            for word in ("--ro-bind", source, str(folder))
        ),
        *("--ro-bind", tree, str(TREE), "--ro-bind", socket_folder, str(SOCKET_FOLDER)),
        *("--chdir", str(TREE), "--remount-ro", "/"),
        *(() if filter_descriptor is None else ("--seccomp", str(filter_descriptor))),
        *("--json-status-fd", str(place.status_descriptor), "--", *launch.command),
    ]


def _environment(launch: Launch) -> list[str]:
    variables = {
        **launch.environment,
        "PATH": "/usr/bin:/bin",
        "HOME": str(SCRATCH),
        "MEIJIN_SERVER": f"unix:{SOCKET_FOLDER / SOCKET}",
    }
    return [
        "--clearenv",
        *(word for name, value in variables.items() for word in ("--setenv", name, value)),
    ]


def _links() -> list[str]:
    """Bring ``/bin`` and ``/lib`` in, which are links to folders in ``/usr`` or folders."""
    words = []
    for folder in map(Path, ("/bin", "/lib", "/lib64")):
        if folder.is_symlink():
            words += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.exists():
            words += ["--ro-bind", str(folder), str(folder)]
    return words


def find_program(program: str) -> str:
    """Where a program of the system is: on the PATH, or in the folders of root; else its name."""
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin") or program
