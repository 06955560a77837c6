"""What the bridge adds to an engine, and how many games it carries at once.

    python benchmarks/bridge.py [--plies 2000] [--games 1 8 64] [--seconds 5] [--json]

The engine answers at once: a program in C where a compiler is at hand (``cc``), else in Python.

--plies    moves asked of the engine over a bare pipe, and as many through the bridge, in slices of
           each in turn: what the bridge adds is processes, bounds and protocol, without a server
--games    games at once on a server of its own, the engine wrapped on one side and an instant
           bot on the other; for each number a row
--seconds  how long each such row counts, after a second to warm up
--json     one JSON object on the last line

bare_us, bridge_us   the medians of a ply
added_us             their difference
times                bridge_us over bare_us, to compare runs on busy machines by
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from arena_process import arena_process, child
from bot_processes import INSTANT_BOT
from line_engine import engine
from report import parser_of, print_json, show

from meijin.bots import Position
from meijin.bots.bridge.settings import WrapSettings
from meijin.bots.bridge.wrapped import WrappedBot
from meijin.game import Board, TimeControl
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub

SLICES = 10
SIDE = 15
WARM_UP = 1.0


class Bare:
    """The engine at the end of a pipe, without more."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line: str) -> bytes:
        """Write a line and read one."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def sample(self, plies: int) -> list[float]:
        """Seconds of this many moves, in games of which the engine plays both sides' cells."""
        spent: list[float] = []
        self.ask("START 15")
        for ply in range(plies):
            if ply % 100 == 0:
                self.ask("RESTART")
            cell = SIDE * SIDE - 1 - ply % 100
            begin = time.perf_counter()
            self.ask(f"TURN {cell % SIDE},{cell // SIDE}")
            spent.append(time.perf_counter() - begin)
        return spent

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


async def sample_bridge(bot: WrappedBot, plies: int) -> list[float]:
    """Seconds of this many moves of a wrapped engine, in games of ten of its moves at most."""
    spent: list[float] = []
    while len(spent) < plies:
        position = Position(Board(), TimeControl.parse("60/move"), game_id=str(time.monotonic_ns()))
        board = position.board
        bot.game_started(position)
        for _ in range(10):
            begin = time.perf_counter()
            answer = await bot.choose(position)
            spent.append(time.perf_counter() - begin)
            assert isinstance(answer, int)
            board.play(answer)
            if board.is_over:
                break
            board.play(board.legal_cells()[-1 - board.ply * 7 % 40])
            if board.is_over:
                break
        await bot.game_ended(position.game_id, None)
    return spent


def overhead(command: Sequence[str], plies: int) -> dict[str, str | int | float]:
    """A ply over a bare pipe, and through the bridge."""
    bot = WrappedBot(_settings(command))
    bare = Bare(command)
    bot.prepare()
    pipes: list[float] = []
    bridged: list[float] = []

    async def measure() -> None:
        for _ in range(SLICES):
            pipes.extend(bare.sample(plies // SLICES))
            bridged.extend(await sample_bridge(bot, plies // SLICES))

    try:
        asyncio.run(measure())
    finally:
        bot.close()
        bare.close()
    bare_us, bridge_us = (1e6 * statistics.median(sample) for sample in (pipes, bridged))
    return {
        "plies": len(bridged),
        "bare_us": bare_us,
        "bridge_us": bridge_us,
        "added_us": bridge_us - bare_us,
        "times": bridge_us / bare_us,
    }


def throughput(command: Sequence[str], games: int, seconds: float) -> dict[str, str | int | float]:
    """Games a second, the wrapped engine against an instant bot."""
    with arena_process("process") as arena:
        where = f"--server={arena.address}"
        meijin = (sys.executable, "-m", "meijin", "bot")
        words = [
            f"--games={games}",
            "--sizes=15",
            "--pause=0",
            "--protocol=gomocup",
            "--opening-rules=free",
        ]
        wrap = [*meijin, "wrap", "--name=wrapped", where, *words, "--", *command]
        rival = [sys.executable, str(INSTANT_BOT), "rival"]
        with (
            Path(os.devnull).open("w") as null,
            child(wrap, null.fileno()),
            child([*rival, arena.address, str(games)]),
        ):
            arena.wait_for_bots(2)
            return {"games_at_once": games, **_rates(arena.address, seconds)}


def _rates(address: str, seconds: float) -> dict[str, float]:
    """Count the games that end in a tournament of many."""
    import grpc  # noqa: PLC0415 - the measurements of pipes need none

    with grpc.insecure_channel(address) as channel:
        stub = TournamentServiceStub(channel)
        settings = pb.TournamentSettings(bots=["wrapped", "rival"], rounds=10_000, unrated=True)
        settings.time_control.per_move.FromTimedelta(timedelta(seconds=30))
        made = stub.CreateTournament(pb.CreateTournamentRequest(settings=settings))
        key = pb.GetTournamentRequest(tournament_id=made.tournament.tournament_id)

        def finished() -> int:
            return stub.GetTournament(key).tournament.finished_games

        time.sleep(WARM_UP)
        before, begin = finished(), time.monotonic()
        time.sleep(seconds)
        return {"games_per_s": (finished() - before) / (time.monotonic() - begin)}


def _settings(command: Sequence[str]) -> WrapSettings:
    return WrapSettings(
        command=command,
        protocol="gomocup",
        sizes=(SIDE, SIDE),
        opening_rules=(),
        pause=timedelta(0),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the arguments ask for."""
    parser = parser_of(__doc__)
    parser.add_argument("--plies", type=int, default=2000)
    parser.add_argument("--games", type=int, nargs="*", default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args(arguments)
    with engine() as program:
        command = [str(program)]
        first = [overhead(command, options.plies)]
        show("A ply over a bare pipe, and through the bridge", first)
        rows = [throughput(command, games, options.seconds) for games in options.games]
        if rows:
            show("Games through the bridge and a server", rows)
    if options.json:
        print_json([*first, *rows])


if __name__ == "__main__":
    main()
