"""`meijin status` at a real server."""

import json

from tests.system.processes import BOTS, NO_LADDER, Processes, Server, eventually


def test_the_exit_status_says_whether_all_is_well(processes: Processes) -> None:
    """0 with everything up, 1 without an answer; the token is the one on the machine."""
    server = Server(processes)
    words = ("status", f"--server={server.address}")
    shown = processes.run(*words, MEIJIN_DATA=str(server.data))
    assert shown.returncode == 0, shown.stderr
    assert "serving" in shown.stdout
    assert "yes" in shown.stdout
    refused = processes.run(*words)
    assert refused.returncode == 1
    assert "give a token with --token or MEIJIN_OPERATOR_TOKEN" in refused.stderr
    server.process.kill()
    gone = processes.run(*words)
    assert gone.returncode == 1
    assert "no server answers" in gone.stderr


def test_a_script_reads_what_is_wrong(processes: Processes) -> None:
    """With a queue that is not there the rest is told all the same."""
    server = Server(processes, "--open", NO_LADDER)
    server.start_bots(*BOTS[:2])
    server.create_tournament(*BOTS[:2], rounds=1000)
    words = ("status", "--json", f"--server={server.address}")
    eventually(lambda: json.loads(processes.run(*words).stdout)["running_games"] > 0)
    shown = processes.run(*words)
    assert shown.returncode == 1
    told = json.loads(shown.stdout)
    assert told["connected_bots"] == 2
    assert not told["store_failing"]
    assert "queued_jobs" not in told
