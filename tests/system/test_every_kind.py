"""Engines, our own bots and those of other languages in tournaments of all rules."""

import csv
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.examples.conftest import COMMANDS, EXAMPLES
from tests.processes import MEIJIN, eventually
from tests.system.server import Server

from meijin.game import RULES

ROOT = Path(__file__).resolve().parents[2]
ENGINES: Mapping[str, tuple[str, ...]] = {
    "engine": (f"--rules={','.join(RULES)}", "--", *MEIJIN, "bot", "engine", "random"),
    "terminal": ("--", sys.executable, "-m", "tests.system.terminal_engine"),
}
"""What `meijin bot wrap` wraps: a bot of ours as an engine, and somebody else's."""
OWN: Mapping[str, tuple[str, ...]] = {
    "random": ("random", "--option=seed=1"),
    "alphabeta": ("alphabeta", "--option=nodes=200"),
    "mcts": ("mcts", "--option=form=pure", "--option=playouts=20"),
    "numpy": (str(EXAMPLES / "numpy-batch" / "numpy_bot.py"),),
    "openspiel": (str(EXAMPLES / "openspiel" / "openspiel_bot.py"), "--option=simulations=10"),
}
"""What `meijin bot run` runs."""
PLAYERS_OF_SWAP2 = ("alphabeta", "mcts", "random", "javascript")
TOURNAMENTS: Mapping[str, tuple[str, ...]] = {
    "freestyle 15x15": (*ENGINES, *OWN, "javascript", "python-plain"),
    "standard 15x15": ("engine", "numpy", "javascript", "alphabeta"),
    "renju 15x15": ("engine", "javascript", "mcts"),
    "caro 15x15": ("engine", "numpy", "javascript", "python-plain"),
    "caro-exact 15x15": ("engine", "javascript", "alphabeta"),
    "renju 15x15 swap2": PLAYERS_OF_SWAP2,
    "freestyle 15x15 swap2": PLAYERS_OF_SWAP2,
}
"""Who plays whom, once, by what is played."""
COMPILATION = 600.0
"""Seconds that it may take until all are there."""


def games_of(entrants: Sequence[str]) -> int:
    return len(entrants) * (len(entrants) - 1) // 2


def start_all(server: Server) -> set[str]:
    where = f"--server={server.address}"
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    wrap = ("bot", "wrap", where, "--sizes=15", "--pause=0", "--games=2")
    for name, words in ENGINES.items():
        server.processes.start(name, *wrap, f"--name={name}", *words, PYTHONPATH=paths)
    for name, words in OWN.items():
        server.processes.start(name, "bot", "run", *words, where, f"--name={name}")
    for name, command in COMMANDS.items():
        server.processes.start_command(name, *command, name, MEIJIN_SERVER=server.address)
    return {*ENGINES, *OWN, *COMMANDS}


@pytest.mark.timeout(1200)  # where nothing was compiled before, two searches are first
def test_tournaments_of_every_kind(server: Server) -> None:
    """All games are decided on the board, and each crosstable is the sum of its games."""
    names = start_all(server)
    eventually(lambda: server.connected_bots() == names, patience=COMPILATION)
    made = {
        variant: server.create_tournament(*some, rounds=1, time="60+2", variant=variant)
        for variant, some in TOURNAMENTS.items()
    }
    planned = sum(map(games_of, TOURNAMENTS.values()))
    eventually(lambda: server.books.finished() == planned, patience=COMPILATION)
    server.assert_all_is_played(planned)
    for variant, tournament in made.items():
        assert_crosstable(server, tournament, TOURNAMENTS[variant])


def assert_crosstable(server: Server, tournament: str, entrants: Sequence[str]) -> None:
    """The server's crosstable, and that of the export, are what the exported games add up to."""
    archive = server.folder / f"{tournament}.zip"
    server.tell("tournament", "export", tournament, f"--output={archive}")
    with ZipFile(archive) as opened:
        records = [
            opened.read(name).decode() for name in opened.namelist() if name.endswith(".sgf")
        ]
        exported = opened.read("crosstable.csv").decode()
    assert len(records) == games_of(entrants)
    summed = crosstable_of(records)
    found = server.tournament(tournament)
    pairs = set(permutations(entrants, 2))
    told = {
        (cell.bot, cell.opponent): (cell.wins, cell.draws, cell.losses) for cell in found.crosstable
    }
    rows = list(csv.reader(io.StringIO(exported)))[1:]
    assert told == {pair: tuple(summed[*pair, mark] for mark in "WDL") for pair in pairs}
    assert told == {(bot, other): tuple(map(int, counts)) for bot, other, *counts in rows}
    assert all(sum(counts) == 1 for counts in told.values())
    assert {(count.bot, count.faults) for count in found.faults} == {(bot, 0) for bot in entrants}


def crosstable_of(records: list[str]) -> Counter[tuple[str, str, str]]:
    """How often each bot won (W), drew (D) and lost (L) against each other, by players and result."""
    marks = {"B": ("W", "L"), "W": ("L", "W"), "D": ("D", "D")}
    summed: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        black, white, result = (
            re.findall(rf"(?<=[;\]\s]){key}\[([^\]]*)\]", record)[0] for key in ("PB", "PW", "RE")
        )
        first, second = marks[result[0]]
        summed.update([(black, white, first), (white, black, second)])
    return summed
