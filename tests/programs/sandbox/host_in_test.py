"""A host that a test kills: ``python host_in_test.py TREE RUNTIME``.

It seats two programs, one of them frozen, writes what is there as a line of JSON, and waits.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from meijin.programs.sandbox.bubblewrap import BubblewrapSandbox
from meijin.programs.sandbox.running import Launch


async def main() -> None:
    tree, runtime = map(Path, sys.argv[1:])
    async with BubblewrapSandbox() as sandbox:
        arena = tempfile.mkdtemp(dir=sandbox.leftovers[0])
        programs = []
        for name in ("awake", "frozen"):
            command = [str(runtime / "bin/python3"), "-I", "-S", "attacks.py", "ignore_sigterm"]
            program = await sandbox.start(
                Launch(name, command, tree, socket_folder=Path(arena), runtime=[runtime])
            )
            while "up" not in program.lines:  # noqa: ASYNC110 - no event comes
                await asyncio.sleep(0.005)
            programs.append(program)
        await programs[1].freeze()
        janitor = sandbox.janitor_pid
        tell(
            janitor=janitor,
            launchers=[program.pid for program in programs],
            pids=[pid for program in programs for pid in program._group.members()],
            folders=list(map(str, sandbox.leftovers)),
        )
        while sandbox.janitor_pid == janitor:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.005)
        tell(janitor=sandbox.janitor_pid)
        await asyncio.Event().wait()


def tell(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
