"""Names that a shell completes: bots of the package, of the folder and of the server."""

import os
from contextlib import suppress
from pathlib import Path

TIMEOUT = 0.3
"""Seconds that a server has to name its bots, while somebody waits for a shell."""
MOST = 200
"""Names that are asked for."""


def programs(incomplete: str) -> list[str]:
    """Bots to run: those built in, and files of the folder."""
    return _begun(_programs(incomplete), incomplete)


def players(incomplete: str) -> list[str]:
    """Bots to play: those to run, and those of the server, if it answers at once."""
    return _begun([*_programs(incomplete), *_of_server()], incomplete)


def registered(incomplete: str) -> list[str]:
    """Bots of the server, if it answers at once."""
    return _begun(_of_server(), incomplete)


def _begun(names: list[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})


def _programs(incomplete: str) -> list[str]:
    from meijin.bots import BUILT_IN  # noqa: PLC0415 - a shell waits

    folder = Path(incomplete).parent if os.sep in incomplete else Path()
    with suppress(OSError):
        return [*BUILT_IN, *(str(path) for path in folder.glob("*.py"))]
    return list(BUILT_IN)


def _of_server() -> list[str]:
    """Whatever fails, a shell is told no more than that there is no name."""
    with suppress(Exception):
        from meijin.cli.profile import Profile, read_profile  # noqa: PLC0415 - likewise
        from meijin.local.connection import connect  # noqa: PLC0415 - a shell waits
        from meijin.v1 import bot_service_pb2 as pb  # noqa: PLC0415 - likewise
        from meijin.wire.contract import SERVER_VARIABLE  # noqa: PLC0415 - likewise

        profile = Profile(os.environ.get(SERVER_VARIABLE, "")).over(read_profile())
        with connect(profile.endpoint, profile.token) as connection:
            answer = connection.bots.ListBots(pb.ListBotsRequest(page_size=MOST), timeout=TIMEOUT)
            return [bot.name for bot in answer.bots]
    return []
