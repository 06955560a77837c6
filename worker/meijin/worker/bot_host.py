"""Bot hosts: processes of a bot, forked from one that has loaded it, each for one player.

    python -m meijin.worker.bot_host --log=FILE --name=NAME SOCKET BOT [NAME=VALUE]...

The first process listens on the Unix socket and forks for every connection. A built-in bot is
loaded before that, so that its search is loaded once; a file is loaded by each process anew, since
what it starts, such as threads of a library, outlives no fork. It ends when its standard input
does, which its parent's death brings.

What is said on a connection is pickled, by `multiprocessing.connection`; both ends are of one
installation and of one user. The options come first: a player may have others than the host.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from meijin.bots.builtin.catalogue import BUILT_IN, load_bot
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.bot import Bot, overrides
from meijin.bots.sdk.errors import BotLoadError, failure_of
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.searcher import answer_turn, end_game, run_hook
from meijin.bots.sdk.stream import StreamOutbox
from meijin.bots.sdk.turn import Turn
from meijin.bots.sdk.turn_log import open_turn_log
from meijin.v1.play_service_pb2 import GameStarted
from meijin.wire.values import color_to_proto, time_control_to_proto, variant_to_proto
from meijin.worker.host_messages import Ask, Died, End, Ready, Started
from meijin.worker.players import GameStart

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(arguments: Sequence[str]) -> None:
    """Listen and fork, until standard input ends."""
    log, name, path, spec, *options = arguments
    if log := log.removeprefix("--log="):
        open_turn_log(Path(log), name.removeprefix("--name="))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    bot = None
    if spec in BUILT_IN:
        bot = load_bot(spec, options)
        bot.prepare()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, Connection] = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{path}.new")
        listener.listen(128)
        Path(f"{path}.new").rename(path)  # it can be connected to as soon as it is there
        poll = select.poll()
        for source in (listener.fileno(), reader, sys.stdin.fileno()):
            poll.register(source, select.POLLIN)
        while sys.stdin.fileno() not in (events := {source for source, _ in poll.poll()}):
            if reader in events:
                os.read(reader, 4096)
                _reap(children)
            if listener.fileno() in events:
                connection = Connection(listener.accept()[0].detach())
                pid = os.fork()
                if not pid:
                    listener.close()
                    _leave_parent(children)
                    _host(connection, spec, options, bot)
                children[pid] = connection
    for pid in children:
        with suppress(OSError):  # it has ended
            os.kill(pid, signal.SIGKILL)


def _reap(children: dict[int, Connection]) -> None:
    """Say how each process has ended, to whom it has played for."""
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        connection = children.pop(pid)
        with suppress(OSError):
            connection.send(Died(os.waitstatus_to_exitcode(status)))
        connection.close()


def _leave_parent(children: dict[int, Connection]) -> None:
    """Have nothing of it but what the bot needs, and die with it."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for other in children.values():
        other.close()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a bot prints is no answer


def _host(connection: Connection, spec: str, options: Sequence[str], bot: Bot | None) -> None:
    """Play for one connection until its end; never returns."""
    status = 0
    try:
        wanted = connection.recv()
        if bot is None or wanted != options:
            bot = load_bot(spec, wanted)
            bot.prepare()
        settings = [f"{key}={value}" for key, value in sorted(bot.configuration.items())]
        connection.send(
            Ready(
                os.getpid(),
                bot.version,
                bot.digest,
                settings,
                bot.capabilities,
                bot.search_threads,
                bot.memory_bytes,
                plays_many=spec not in BUILT_IN and overrides(bot, "choose_many"),
            )
        )
        asyncio.run(_serve(connection, bot))
        run_hook(bot.close)
    except (EOFError, OSError):
        pass  # nobody plays any more
    except BaseException as error:
        status = 1
        logging.getLogger("meijin.bots").exception("can't play")
        with suppress(OSError):
            connection.send(
                Failure(str(error)) if isinstance(error, BotLoadError) else failure_of(error)
            )
    finally:
        sys.stderr.flush()
        os._exit(status)


async def _serve(connection: Connection, bot: Bot) -> None:
    """Answer what is asked, one after the other: `async def` methods have the loop to themselves."""
    game: RunningGame | None = None
    while True:
        told = connection.recv()
        if isinstance(told, Ask):
            assert game is not None
            game.color = told.color
            game.begin_turn(
                Turn(
                    len(told.moves) // 2, told.moves, told.own_ms, told.opponent_ms, 0.0, told.task
                )
            )
            action = await answer_turn(bot, game)
            game.send(action)
            connection.send(action.answer)
        elif isinstance(told, GameStart):
            game = RunningGame(_started(told), StreamOutbox(), lambda: 0.0)
            position = game.position
            run_hook(lambda: bot.game_started(position))  # noqa: B023 - called at once
            connection.send(Started())
        elif isinstance(told, End):
            game_id, outcome = told
            await end_game(bot, game_id, outcome)


def _started(start: GameStart) -> GameStarted:
    return GameStarted(
        game=1,
        game_id=start.game_id,
        variant=variant_to_proto(start.variant),
        time_control=time_control_to_proto(start.time_control),
        color=color_to_proto(start.color),
        moves=start.opening,
        opponent=start.opponent,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
