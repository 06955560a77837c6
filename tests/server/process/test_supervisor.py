"""The processes beside the server: a real Valkey, and a stand-in for the worker."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from tests.conftest import PATIENCE, until

from meijin.server.process import supervisor as module
from meijin.server.process.die_with_parent import die_with_parent
from meijin.server.process.supervisor import Supervisor
from meijin.server.process.valkey import EmbeddedValkey
from meijin.server.settings import Settings
from meijin.wire.contract import (
    COLLECTOR_VARIABLES,
    HOST_TOKEN_VARIABLE,
    PROGRAMS_VARIABLE,
    SERVER_VARIABLE,
)

IDLE = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: exit()); time.sleep(600)"

Keep = Callable[..., AbstractAsyncContextManager[Supervisor]]


@pytest.fixture
def keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keep:
    """Keeps the processes alive while the block lasts."""
    monkeypatch.setattr(module, "LIVENESS_INTERVAL", timedelta(milliseconds=20))
    monkeypatch.setattr(module, "FIRST_BACKOFF", timedelta(milliseconds=20))
    monkeypatch.setattr(module, "MAX_BACKOFF", timedelta(milliseconds=50))

    def stand_in(command: Sequence[str]) -> list[str]:
        assert {"worker", "host"} & set(command)
        return die_with_parent([sys.executable, "-S", "-c", IDLE])

    monkeypatch.setattr(module, "die_with_parent", stand_in)

    @asynccontextmanager
    async def running(**settings: Any) -> AsyncIterator[Supervisor]:
        async with (
            Supervisor(Settings(data=tmp_path, **settings)) as supervisor,
            asyncio.timeout(PATIENCE),
            asyncio.TaskGroup() as tasks,
        ):
            kept = tasks.create_task(supervisor.run())
            yield supervisor
            assert not kept.done()
            kept.cancel()

    return running


def answers(supervisor: Supervisor) -> bool:
    """Whether there is a Valkey at the supervisor's URL."""
    with redis.Redis.from_url(supervisor.redis_url) as client:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False


def pids(supervisor: Supervisor) -> tuple[int, int]:
    assert supervisor._valkey is not None
    assert supervisor._valkey.pid is not None
    (worker,) = supervisor.children
    assert worker.process is not None
    return supervisor._valkey.pid, worker.process.pid


async def test_a_killed_valkey_is_started_again(keep: Keep) -> None:
    """At the same place with its data, while the worker lives on; in the end both are gone."""
    async with keep() as supervisor:
        with redis.Redis.from_url(supervisor.redis_url) as client:
            client.set("key", "value")
            await until(lambda: client.info("persistence")["aof_buffer_length"] == 0)
        valkey, worker = pids(supervisor)
        os.kill(valkey, signal.SIGKILL)
        await until(lambda: pids(supervisor)[0] != valkey and answers(supervisor))
        with redis.Redis.from_url(supervisor.redis_url) as client:
            assert client.get("key") == b"value"
        assert pids(supervisor)[1] == worker
        seen = pids(supervisor)
    for pid in seen:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_killed_worker_is_started_again(keep: Keep) -> None:
    """As often as it ends, while Valkey lives on."""
    async with keep() as supervisor:
        valkey, worker = pids(supervisor)
        for _ in range(2):
            os.kill(worker, signal.SIGKILL)
            await until(lambda worker=worker: pids(supervisor)[1] != worker)  # type: ignore[misc]
            worker = pids(supervisor)[1]
        assert pids(supervisor)[0] == valkey


async def test_a_valkey_that_does_not_start_is_tried_again(keep: Keep, tmp_path: Path) -> None:
    """The server lives without it, and has it back once the trouble is over."""
    async with keep() as supervisor:
        manifest = tmp_path / "valkey" / "appendonlydir" / "appendonly.aof.manifest"
        good = manifest.read_text()
        valkey, _ = pids(supervisor)
        os.kill(valkey, signal.SIGKILL)
        manifest.write_text("no manifest\n")
        await until(lambda: pids(supervisor)[0] != valkey)
        failed = pids(supervisor)[0]
        await until(lambda: pids(supervisor)[0] != failed)
        manifest.write_text(good)
        await until(lambda: answers(supervisor))


async def test_a_redis_of_the_operators_needs_no_supervisor(keep: Keep) -> None:
    """Its worker is started by the operator too."""
    async with keep(redis_url="redis://elsewhere:6379/0") as supervisor:
        assert supervisor.redis_url == "redis://elsewhere:6379/0"
        assert supervisor._valkey is None
        assert supervisor.children == []
        await asyncio.sleep(0)


async def test_the_loop_goes_on_while_valkey_starts(
    keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Valkey that takes long to answer, or never does, holds no game up."""
    waits, goes_on = threading.Event(), threading.Event()
    has_gone_on: list[bool] = []

    def wait(_valkey: EmbeddedValkey) -> None:
        waits.set()
        has_gone_on.append(goes_on.wait(PATIENCE / 2))

    async with keep() as supervisor:
        monkeypatch.setattr(EmbeddedValkey, "wait_until_ready", wait)
        os.kill(pids(supervisor)[0], signal.SIGKILL)
        await until(waits.is_set)
        goes_on.set()
        await until(lambda: bool(has_gone_on))
    assert has_gone_on[0]


@pytest.mark.parametrize("traces", [None, "http://127.0.0.1:4317"])
async def test_the_worker_sends_traces_where_the_server_does(
    keep: Keep, monkeypatch: pytest.MonkeyPatch, traces: str | None
) -> None:
    """Or nowhere: what else is in the environment is not what the server was told."""
    for variable in COLLECTOR_VARIABLES:
        monkeypatch.setenv(variable, "http://elsewhere:4317")
    wanted = [f"{COLLECTOR_VARIABLES[0]}={traces}"] if traces else []
    async with keep(traces=traces) as supervisor:
        environment = Path(f"/proc/{pids(supervisor)[1]}/environ")

        def has_what_it_wants() -> bool:
            lines = environment.read_text().split("\0")  # nothing while a command begins
            told = [line for line in lines if line.startswith(COLLECTOR_VARIABLES)]
            return len(lines) > 1 and told == wanted

        await until(has_what_it_wants)


async def test_a_server_that_hosts_has_programs_examined_and_run(keep: Keep) -> None:
    """By a worker of that queue, and by a host that is told where the server is."""
    async with keep(hosting=True) as supervisor:
        supervisor.start_host("127.0.0.1:7", "gmk_host_x")
        _, admissions, host = supervisor.children
        assert (list(admissions.command), admissions.name) == (["host", "admit"], "admissions")
        assert admissions.environment[PROGRAMS_VARIABLE].endswith("programs")
        assert list(host.command[:2]) == ["host", "run"]
        told = (host.environment[SERVER_VARIABLE], host.environment[HOST_TOKEN_VARIABLE])
        assert told == ("127.0.0.1:7", "gmk_host_x")
