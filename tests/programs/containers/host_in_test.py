"""A host that a test kills: ``python host_in_test.py FOLDER``, with an engine's program there.

It seats two programs, one of them frozen, writes what is there as a line of JSON, and waits.
"""

import asyncio
import json
import sys
from pathlib import Path

from tests.programs.containers.conftest import FakeEngine

from meijin.programs.containers.container_sandbox import ContainerSandbox


async def main() -> None:
    engine = FakeEngine(Path(sys.argv[1]))
    async with ContainerSandbox("docker", find_group=engine.find_group) as sandbox:
        programs = [
            await sandbox.start(engine.launch(engine.folder, "ignore_sigterm")) for _ in range(2)
        ]
        for program in programs:
            while "up" not in program.lines:  # noqa: ASYNC110 - no event comes
                await asyncio.sleep(0.005)
        await programs[1].freeze()
        states = (engine.folder / "containers").glob("*/state")
        pids = [json.loads(state.read_text())["Pid"] for state in states]
        sys.stdout.write(json.dumps({"janitor": sandbox.janitor_pid, "pids": pids}) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
