"""How a server is: `meijin status`."""

import json

from tests.processes import Processes, eventually
from tests.system.server import BOTS, NO_LADDER, Server


def test_the_exit_status_says_whether_all_is_well(processes: Processes) -> None:
    """0 with everything up, 1 without an answer; the token is the one on the machine."""
    server = Server(processes)
    shown = server.tell("status")
    assert "serving" in shown
    assert "yes" in shown
    refused = processes.refusal("status", f"--server={server.address}")
    assert "give a token with --token or MEIJIN_OPERATOR_TOKEN" in refused
    server.process.kill()
    assert "no server answers" in server.refusal("status")


def test_a_script_reads_what_is_wrong(server: Server) -> None:
    """With a queue that is not there the rest is told all the same."""
    server.start_bots(*BOTS[:2])
    server.create_tournament(*BOTS[:2], rounds=1000)
    words = ("status", "--json")
    eventually(lambda: json.loads(server.run(*words).stdout)["running_games"] > 0)
    told = server.ask("status", status=1)
    assert told["connected_bots"] == 2
    assert not told["store_failing"]
    assert "queued_jobs" not in told


def test_a_taken_port_ends_a_server(server: Server) -> None:
    taken = f"--metrics={server.address}"
    refused = server.refusal("serve", "--listen=127.0.0.1:0", "--data=other", taken, NO_LADDER)
    assert refused.startswith(f"can't serve metrics on {server.address}: ")
