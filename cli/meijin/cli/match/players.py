"""The bots of a match: its own, on a server of its own, or those of a server it waits for."""

import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Self

from meijin.bots import BUILT_IN, load_bot
from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.output import print_note
from meijin.local.bots import BOT_START_TIMEOUT
from meijin.local.connection import Connection, Server, connect, list_bots
from meijin.local.errors import BotLostError, LeftTournamentError, check_server_parts
from meijin.local.match_play import check_player
from meijin.local.server import explaining, local_server, playing, without_ladder
from meijin.local.sides import Side
from meijin.local.worker import games_at_once
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import variant_from_proto

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


def parse_side(spec: str, each: Sequence[str] = ()) -> Side:
    """A side as it was written, with words about every side."""
    try:
        return Side.parse(spec, each)
    except ValueError as error:
        raise CommandError(str(error)) from None


def check_sides(sides: Sequence[Side], wanted: pb.TournamentSettings) -> None:
    """See that a server can be started, and that the built-in bots can play what is wanted."""
    check_server_parts()
    for side in sides:
        if side.bot in BUILT_IN:
            check_player(side.own_name, load_bot(side.bot, side.settings).capabilities, wanted)


@contextmanager
def local_match(
    sides: Mapping[str, Side],
    folder: MatchFolder,
    wanted: pb.TournamentSettings,
    *,
    log: Path | None = None,
    is_pinned: bool = False,
    limit: timedelta = BOT_START_TIMEOUT,
) -> Iterator[Connection]:
    """A server of the match's own, and what plays its sides by their names.

    As many games as `wanted` asks for at once, or as there are cores for; the server itself is not
    asked to bound them.
    """
    games = games_at_once(wanted, sides.values())
    wanted.max_games = 0
    if log is not None:
        sides = {name: replace(side, log=str(log.absolute())) for name, side in sides.items()}
    options = without_ladder(folder.path) if wanted.unrated else ()
    try:
        with (
            local_server(folder.path, *options) as (address, server),
            connect(Server(address), "") as connection,
            explaining(server),
            playing(
                connection,
                address,
                sides,
                folder.path,
                print_note,
                games=games,
                variant=variant_from_proto(wanted.variant),
                is_pinned=is_pinned,
                on_loss=folder.keep_logs,
                limit=limit,
            ),
        ):
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
