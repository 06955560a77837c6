"""Counts: what the server knows of its games and bots, held against what there is."""

from __future__ import annotations

from tests.simulation.disk import Disk
from tests.simulation.oracle.violation import require
from tests.simulation.server import SimulatedServer


def check_counts(server: SimulatedServer) -> None:
    require(not server.failures, f"the server has failed: {server.failures}")
    if server.parts is None:
        return
    parts = server.parts
    games = parts.games.running
    for run in parts.scheduler.runs.values():
        count = sum(game.run is run for game in games.values())
        require(run.running == count, f"{run.running} games are counted, {count} run")
    for player in parts.lobby.players.values():
        mine = {game.number for game in games.values() if player in (game.black, game.white)}
        require(set(player.games) == mine, f"{player.name} has {set(player.games)} of {mine}")
        require(player.session or mine, f"{player.name} is known though it is gone")
    for game in games.values():
        require(game.arbiter.outcome is None, f"game {game.id} runs though it is over")


def check_rest(server: SimulatedServer) -> None:
    """Nothing is left of games and bots that are gone."""
    assert server.parts is not None
    parts = server.parts
    require(not parts.lobby.players, f"left in the lobby: {parts.lobby.players}")
    require(not parts.scheduler.runs, f"still played: {parts.scheduler.runs}")
    require(not parts.games.running, f"still running: {parts.games.running}")
    require(not parts.games._ending, f"still ending: {parts.games._ending}")
    tasks = [task for task in server.process.tasks if not task.done()]
    require(len(tasks) == server.lasting, f"left over: {tasks}")


def unfinished(disk: Disk) -> str:
    """The planned games that have no result, for people."""
    query = """
        SELECT pairing.id, game.id, game.state FROM pairing
        LEFT JOIN game ON game.pairing_id = pairing.id AND game.state <> 'void'
        WHERE game.state IS NULL OR game.state <> 'finished'
    """
    rows = disk.reader.execute(query).fetchall()
    return f"pairing, game and state of {len(rows)}: {rows[:5]}"
