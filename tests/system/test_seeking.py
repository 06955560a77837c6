"""A bot that seeks challenges, as its owner starts it."""

import signal

from tests.processes import Process, Processes, eventually
from tests.system.server import NO_LADDER, Server


def test_a_bot_seeks_games_by_itself(processes: Processes) -> None:
    """It plays them, takes back what goes on when it leaves, and keeps to its owner's budget."""
    server = Server(processes, "--registration=open", NO_LADDER, MEIJIN_CHALLENGE_GAMES_A_DAY="4")
    server.tell("bot", "register", "eve", "--owner=alan", "--save=eve.token")
    server.tell("token", "create", "owner", "alan", "--save=alan.token")
    files = {"MEIJIN_TOKEN": "eve.token", "MEIJIN_OPERATOR_TOKEN": "alan.token"}
    tokens = {name: (processes.folder / file).read_text().strip() for name, file in files.items()}

    def start() -> Process:
        words = ("bot", "run", "random", f"--server={server.address}", "--seek=1m")
        return processes.start("eve", *words, **tokens)

    def state() -> str:
        (challenge, *_) = server.ask("challenge", "list")["challenges"]
        return str(challenge["state"])

    (ada,) = server.run_bots(ada="random")
    eve = start()
    eve.wait_for("challenge 1: 2 games of 1m with ada")
    eventually(lambda: state() == "finished")
    assert eve.stop(signal.SIGINT) == 0
    assert ada.stop() == 0

    server.start_bot("slow", delay=1)
    eventually(lambda: "slow" in server.connected_bots())
    eve = start()
    eve.wait_for("against slow started")
    assert eve.stop(signal.SIGINT) == 0
    assert eve.has_said("challenge 2 is taken back")
    assert state() == "cancelled"

    eve = start()
    eve.wait_for("no challenge: your challenges may have 4 games in 24 hours")
    assert eve.stop(signal.SIGINT) == 0
