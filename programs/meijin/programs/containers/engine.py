"""A container engine's command line: Docker's, which Podman understands too."""

import asyncio
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

CALL_TIMEOUT = timedelta(minutes=1)
PULL_TIMEOUT = timedelta(minutes=10)
_SHOWN = 300
"""Characters of what an engine complains of."""


class EngineError(OSError):
    """The engine has not done what it was told; the message is its own."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A container engine, as its command line."""

    program: str = "docker"
    options: Sequence[str] = ()
    """Before every command."""

    @property
    def words(self) -> Sequence[str]:
        return (self.program, *self.options)

    async def call(self, *words: str, timeout: timedelta = CALL_TIMEOUT) -> str:  # noqa: ASYNC109 - of a process, which is killed
        """Run a command to its end; what it prints.

        It runs on where the caller is cancelled: what is asked of an engine can't be taken back.

        Raises:
            EngineError: it fails, can't be started, or takes too long.
        """
        return await asyncio.shield(asyncio.create_task(self._call(*words, timeout=timeout)))

    async def _call(self, *words: str, timeout: timedelta) -> str:  # noqa: ASYNC109 - as above
        try:
            process = await asyncio.create_subprocess_exec(
                *self.words, *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        except OSError as error:
            raise self._missing(error) from None
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                out, err = await process.communicate()
        except TimeoutError:
            raise self._slow(words, timeout) from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
        return self._printed(process.returncode or 0, out, err)

    def ask(self, *words: str) -> str:
        """Run a command to its end, and wait for it; what it prints.

        Raises:
            EngineError: as above.
        """
        try:
            done = subprocess.run(
                [*self.words, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=CALL_TIMEOUT.total_seconds(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._slow(words, CALL_TIMEOUT) from None
        except OSError as error:
            raise self._missing(error) from None
        return self._printed(done.returncode, done.stdout, done.stderr)

    def _printed(self, code: int, out: bytes, err: bytes) -> str:
        if code == 0:
            return out.decode(errors="replace").strip()
        raise EngineError(_last_line(err) or f"{self.program} exits with status {code}")

    def _missing(self, error: OSError) -> EngineError:
        if isinstance(error, FileNotFoundError):
            return EngineError(f"there is no {self.program} on the PATH")
        return EngineError(f"{self.program} can't be started: {error.strerror}")

    def _slow(self, words: Sequence[str], timeout: timedelta) -> EngineError:
        return EngineError(f"`{self.program} {words[0]}` has not ended in {timeout}")


def _last_line(said: bytes) -> str:
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    return "".join(sign for sign in lines[-1][:_SHOWN] if sign.isprintable()) if lines else ""
