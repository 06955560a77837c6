"""The janitor of containers: a process that removes those of a host that is killed.

    python -m meijin.programs.containers.janitor LABEL ENGINE [OPTION...]

It waits for the end of its standard input, which the host's death brings. Where it is killed too,
as by what ends all processes of a service at once, the next host on the machine removes them.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Sequence

from meijin.programs.containers.engine import Engine, EngineError
from meijin.programs.containers.host_label import LABEL, HostLabel

_PATIENCE = 60.0
"""Seconds: an engine that starts again meanwhile takes some of them."""
_RETRY_INTERVAL = 0.5


def find(engine: Engine, label: str) -> Sequence[str]:
    """The containers that have a label, whatever state they are in.

    Raises:
        EngineError: the engine does not answer.
    """
    filters = ("--filter", f"label={label}")
    return engine.ask("ps", "--all", "--quiet", "--no-trunc", *filters).split()


def remove_all(engine: Engine, host: str) -> None:
    """Remove the containers of a host, by its label.

    Raises:
        EngineError: the engine does not answer, or can't remove one.
    """
    while found := find(engine, f"{LABEL}={host}"):
        engine.ask("rm", "--force", "--volumes", *found)


def remove_of_dead(engine: Engine) -> None:
    """Remove the containers of hosts that run no more.

    Raises:
        EngineError: as above.
    """
    if not (found := find(engine, LABEL)):
        return
    told = json.loads(engine.ask("container", "inspect", *found))
    for host in {container["Config"]["Labels"][LABEL] for container in told}:
        try:
            is_dead = HostLabel.parse(host).is_dead()
        except ValueError:  # not of this release
            continue
        if is_dead:
            remove_all(engine, host)


def main(arguments: Sequence[str]) -> int:
    """Wait for the host's end, whatever signal goes to its terminal, and clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(sys.stdin.fileno(), 1):
        pass
    label, program, *options = arguments
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            remove_all(Engine(program, options), label)
        except EngineError:
            time.sleep(_RETRY_INTERVAL)
        else:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
