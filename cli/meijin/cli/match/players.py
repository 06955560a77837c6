"""The bots of a match: its own, on a server of its own, or those of a server it waits for."""

import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Self

from meijin.bots import BUILT_IN, check_bot, load_bot
from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.match.options import LocalOptions, Side
from meijin.cli.output import print_note
from meijin.local.bots import BOT_START_TIMEOUT, Upkeep
from meijin.local.connection import Connection, list_bots
from meijin.local.errors import BotLostError, LeftTournamentError, check_server_parts
from meijin.local.match_play import check_player
from meijin.local.server import local_arena
from meijin.v1 import tournament_service_pb2 as pb

POLL_INTERVAL = timedelta(milliseconds=200)


class MatchFolder:
    """Where a local match has its database and its logs.

    Of one that is not given nothing stays but the logs, and these where something has gone wrong.
    """

    def __init__(self, given: Path | None) -> None:
        self.is_given = given is not None
        self.keeps_logs = False
        """Whether something has gone wrong."""
        try:
            self.path = given or Path(tempfile.mkdtemp(prefix="meijin-"))
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unusable_file(error) from None

    def keep_logs(self) -> Path:
        self.keeps_logs = True
        return self.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_given:
            return
        for path in self.path.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.suffix != ".log" or not self.keeps_logs:
                path.unlink(missing_ok=True)
        if not self.keeps_logs:
            self.path.rmdir()


def check_local(
    sides: Sequence[Side], options: LocalOptions, wanted: pb.TournamentSettings
) -> None:
    """See that what only bots of one's own have is asked for with --local alone.

    And with --local that what a server needs is there, and the bots, of which the built-in ones
    must be able to play what is wanted, before anything is made.
    """
    if options.local:
        check_server_parts()
        for side in sides:
            check_bot(side.bot)
            if side.bot in BUILT_IN:
                check_player(side.name, load_bot(side.bot, side.options).capabilities, wanted)
        return
    if options.data is not None:
        raise CommandError("--data goes with --local; a server has a folder of its own")
    if options.log is not None:
        raise CommandError("--log goes with --local; `meijin bot run --log` writes that of one bot")
    for side in sides:
        if side.options:
            raise CommandError(
                f'the options of "{side}" go with --local; a bot on a server has its own'
            )


@contextmanager
def local_match(
    sides: Sequence[Side],
    names: Sequence[str],
    options: LocalOptions,
    folder: MatchFolder,
    *,
    with_ladder: bool,
) -> Iterator[Connection]:
    """A server of the match's own with its two bots, each a process."""
    log = [] if options.log is None else [f"--log={options.log.absolute()}"]
    bots = {name: [*side.words, *log] for name, side in zip(names, sides, strict=True)}
    wait = BOT_START_TIMEOUT if options.wait is None else timedelta(seconds=options.wait)
    upkeep = Upkeep(options.restarts, wait, on_end=lambda _: folder.keep_logs())
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


def wait_for_bots(connection: Connection, names: Collection[str], wait: float) -> None:
    """Return when all of them are connected; bots that the server does not know it will name."""
    away = _away(connection, names)
    if away and not {bot.name for bot in list_bots(connection)}.issuperset(away):
        return  # who makes the match is told which one, or it is hidden
    deadline = time.monotonic() + wait
    is_said = False
    while away := _away(connection, names):
        left = deadline - time.monotonic()
        are = f"{' and '.join(away)} {'is' if len(away) == 1 else 'are'} not connected"
        if left <= 0:
            raise CommandError(
                f"{are} after {wait:g} s; start it with `meijin bot run`, or give a longer --wait"
            )
        if not is_said:
            print_note(f"{are}; waiting {wait:g} s")
            is_said = True
        time.sleep(min(left, POLL_INTERVAL.total_seconds()))


def _away(connection: Connection, names: Collection[str]) -> list[str]:
    there = {bot.name for bot in list_bots(connection, connected=True)}
    return [name for name in names if name not in there]
