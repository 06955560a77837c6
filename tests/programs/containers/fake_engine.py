"""A container engine that a test puts on its PATH: its containers are plain processes.

It keeps what it is told beside itself: `calls`, a line of JSON each, and a folder for each
container. Files beside it change what it does: `info`, `endpoint` and `images` are what it tells,
and it fails in the words of `fail-COMMAND`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
CONTAINERS = HERE / "containers"
POLL_INTERVAL = 0.01
FLAGS = ("init", "read-only", "no-healthcheck")
OPTIONS = (
    *("name", "label", "hostname", "network", "ipc", "log-driver", "user", "cap-drop", "memory"),
    *("security-opt", "memory-swap", "pids-limit", "cpus", "cpuset-cpus", "ulimit", "tmpfs"),
    *("mount", "workdir", "env", "runtime", "pull", "entrypoint"),
)


def fail(text: str, status: int = 1) -> None:
    sys.stderr.write(f"Error response from daemon: {text}\n")
    sys.exit(status)


def read(container: str) -> dict[str, object]:
    try:
        state: dict[str, object] = json.loads((CONTAINERS / container / "state").read_text())
    except OSError:
        fail(f"No such container: {container}")
    return state


def update(container: str, **fields: object) -> None:
    """Set fields of a container that is there still."""
    file = CONTAINERS / container / "state"
    with suppress(OSError):
        state = json.loads(file.read_text()) | fields
        file.with_name("new").write_text(json.dumps(state))
        file.with_name("new").rename(file)


def create(words: list[str]) -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for flag in FLAGS:
        parser.add_argument(f"--{flag}", action="store_true")
    for option in OPTIONS:
        parser.add_argument(f"--{option}", action="append", default=[])
    parser.add_argument("image")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    told = parser.parse_args(words)
    container = f"{os.getpid():064x}"
    (CONTAINERS / container).mkdir(parents=True)
    mounts = dict(field.split("=") for mount in told.mount for field in mount.split(",")[1:-1])
    plan = {
        "command": [*told.entrypoint, *told.arguments],
        "environment": dict(each.split("=", 1) for each in told.env),
        "folder": mounts["source"] if told.workdir else "/",
        "labels": told.label,
    }
    (CONTAINERS / container / "plan").write_text(json.dumps(plan))
    state = {"Status": "created", "Pid": 0, "ExitCode": 0, "Error": "", "OOMKilled": False}
    (CONTAINERS / container / "state").write_text(json.dumps(state))
    sys.stdout.write(f"{container}\n")


def start(words: list[str]) -> None:
    """Run a container's command to its end."""
    container = words[-1]
    plan = json.loads((CONTAINERS / container / "plan").read_text())
    try:
        process = subprocess.Popen(
            plan["command"], cwd=plan["folder"], env=plan["environment"], start_new_session=True
        )
    except OSError as error:
        update(
            container,
            ExitCode=127,
            Error=f"runc create failed:\nexec: {error.filename!r}: not found",
        )
        fail("failed to start")
    update(container, Status="running", Pid=process.pid)
    code = process.wait()
    code = 128 - code if code < 0 else code
    is_out_of_memory = (HERE / "out-of-memory").exists()
    update(container, Status="exited", Pid=0, ExitCode=code, OOMKilled=is_out_of_memory)
    sys.exit(code)


def send(container: str, number: int) -> None:
    pid = read(container)["Pid"]
    if not pid:
        fail(f"container {container} is not running")
    with suppress(ProcessLookupError):
        os.killpg(int(str(pid)), number)


def pause(words: list[str]) -> None:
    send(words[0], signal.SIGSTOP)
    update(words[0], Status="paused")


def unpause(words: list[str]) -> None:
    if read(words[0])["Status"] != "paused":
        fail(f"Container {words[0]} is not paused")
    send(words[0], signal.SIGCONT)
    update(words[0], Status="running")


def kill(words: list[str]) -> None:
    send(words[2], getattr(signal, f"SIG{words[1]}"))


def remove(words: list[str]) -> None:
    for container in words[2:]:
        state = read(container)
        (CONTAINERS / container).rename(HERE / f"removed-{container}")
        if pid := int(str(state["Pid"])):
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            while _is_there(pid):
                time.sleep(POLL_INTERVAL)


def _is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def labels() -> Iterator[tuple[str, str]]:
    for folder in CONTAINERS.glob("*") if CONTAINERS.exists() else ():
        for label in json.loads((folder / "plan").read_text())["labels"]:
            yield folder.name, label


def ps(words: list[str]) -> None:
    wanted = words[words.index("--filter") + 1].removeprefix("label=")
    found = [(name, label) for name, label in labels() if f"{label}=".startswith(f"{wanted}=")]
    for name, _ in found:
        sys.stdout.write(f"{name}\n")


def inspect(words: list[str]) -> None:
    told = []
    for container in words[1:]:
        plan = json.loads((CONTAINERS / container / "plan").read_text())
        of_container = dict(label.split("=") for label in plan["labels"])
        told.append({"State": read(container), "Config": {"Labels": of_container}})
    sys.stdout.write(json.dumps(told))


def image(words: list[str]) -> None:
    images = json.loads((HERE / "images").read_text())
    if words[-1] not in images:
        fail(f"No such image: {words[-1]}")
    sys.stdout.write(json.dumps([{"Config": {"Volumes": images[words[-1]]}}]))


def pull(words: list[str]) -> None:
    images = json.loads((HERE / "images").read_text())
    (HERE / "images").write_text(json.dumps({**images, words[-1]: None}))


def tell(name: str) -> None:
    sys.stdout.write((HERE / name).read_text())


COMMANDS: dict[str, Callable[[list[str]], object]] = {
    "container": inspect,
    "context": lambda _: tell("endpoint"),
    "create": create,
    "image": image,
    "info": lambda _: tell("info"),
    "kill": kill,
    "pause": pause,
    "ps": ps,
    "pull": pull,
    "rm": remove,
    "start": start,
    "unpause": unpause,
    "update": lambda words: read(words[-1]),
}


def main() -> None:
    command, *words = sys.argv[1:]
    with (HERE / "calls").open("a") as file:
        file.write(json.dumps([command, *words]) + "\n")
    if (HERE / f"fail-{command}").exists():
        fail((HERE / f"fail-{command}").read_text())
    COMMANDS[command](words)


main()
