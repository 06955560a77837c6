"""A match on a server of its own: its bots as processes, their names, and its folder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from meijin.arena.errors import BotLostError, LeftTournamentError
from meijin.arena.local import local_arena
from meijin.arena.server_parts import check_server_parts
from meijin.arena.startup import BOT_START_TIMEOUT
from meijin.arena.supervisor import Upkeep
from meijin.bots import check_bot
from meijin.cli.connection import Connection
from meijin.cli.errors import CommandError
from meijin.cli.match_folder import MatchFolder
from meijin.cli.output import print_note
from meijin.cli.sides import Side


def check_local(sides: Sequence[Side], *, local: bool, data: Path | None, log: Path | None) -> None:
    """See that what only bots of one's own have is asked for with --local alone.

    And with --local that the bots and what a server needs are there, before anything is made.

    Raises:
        ArenaError: it is not, or something is missing.
        BotLoadError: there is no such bot.
    """
    if local:
        check_server_parts()
        for side in sides:
            check_bot(side.bot)
        return
    if data is not None:
        raise CommandError("--data goes with --local; a server has a folder of its own")
    if log is not None:
        raise CommandError("--log goes with --local; `meijin bot run --log` writes that of one bot")
    for side in sides:
        if side.options:
            raise CommandError(
                f'the options of "{side}" go with --local; a bot on a server has its own'
            )


def tell_names(sides: Sequence[Side], names: Sequence[str]) -> None:
    """Say who plays under which name, where that is not plain."""
    for side, name in zip(sides, names, strict=True):
        if name != side.name or side.options:
            print_note(f"{name} is {side}")


def words_of(side: Side, log: Path | None) -> list[str]:
    """What `bot run` takes for a side of the match."""
    return [*side.words, *([] if log is None else [f"--log={log.absolute()}"])]


def upkeep_of(restarts: int, wait: float | None, folder: MatchFolder) -> Upkeep:
    """How long its bots are waited for, and how often they are started again."""
    limit = BOT_START_TIMEOUT if wait is None else timedelta(seconds=wait)
    return Upkeep(restarts, limit, on_end=lambda _: folder.keep_logs())


@contextmanager
def local_match(
    bots: dict[str, list[str]], folder: MatchFolder, upkeep: Upkeep, *, with_ladder: bool
) -> Iterator[Connection]:
    """An arena of the match's own, in a folder that is kept or in one that is not."""
    try:
        with local_arena(
            folder.path, bots, print_note, upkeep, with_ladder=with_ladder
        ) as connection:
            try:
                yield connection
            except LeftTournamentError:
                if not folder.is_given:
                    raise
                message = f"interrupted; the same command goes on with what is in {folder.path}"
                raise CommandError(message) from None
    except BotLostError as error:
        raise BotLostError(f"{error}; logs: {folder.keep_logs()}") from None
