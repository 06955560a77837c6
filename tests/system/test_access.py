"""Owners and operators at the command line of a real server."""

import json
import subprocess
from collections.abc import Callable

import pytest
from tests.system.processes import NO_LADDER, Processes, Server, eventually

Meijin = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.smoke
def test_an_owner_from_the_invitation_to_the_ban(processes: Processes) -> None:
    """Each step by command, by whom it is for, and all of it in the audit log."""
    server = Server(processes, "--registration=invitation", NO_LADDER)

    def run(*words: str, token: str | None = None) -> str:
        env = {"MEIJIN_OPERATOR_TOKEN": token} if token else {"MEIJIN_DATA": str(server.data)}
        done = processes.run(*words, f"--server={server.address}", **env)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    invitation = run("admin", "invite", "--quota=1")
    run("login", f"--invitation={invitation}", "--name=eve", token=invitation)
    profile = processes.folder / "meijin" / "profile.json"
    assert profile.stat().st_mode & 0o777 == 0o600
    eve = json.loads(profile.read_text())["token"]
    owned = processes.run("token", "list")
    assert owned.returncode == 0, owned.stderr
    assert f" {eve[-6:]} " in owned.stdout
    elsewhere = processes.run("token", "list", "--server=127.0.0.1:1")
    assert "no server answers at 127.0.0.1:1" in elsewhere.stderr
    assert processes.run("logout").returncode == 0
    assert not profile.exists()
    ada = run("bot", "register", "ada", token=eve)
    bot = processes.start_bot("ada", server.address, MEIJIN_TOKEN=ada)
    eventually(lambda: server.connected_bots() == {"ada"})
    assert "ada is active, and hidden" in run("bot", "set", "ada", "--hidden", token=eve)
    assert "ada" not in run("bot", "list", token=eve).split()
    assert "ada" in run("bot", "list", "--all", token=eve).split()
    assert "ada is active" in run("bot", "set", "ada", "--shown", token=eve)
    run("bot", "set", "ada", "--state=banned", "--reason=it cheats")
    assert bot.wait() == 1
    assert bot.has_said('"ada" is banned: it cheats')
    refused = processes.run(
        *("bot", "set", "ada", "--state=active", f"--server={server.address}"),
        MEIJIN_OPERATOR_TOKEN=eve,
    )
    assert refused.returncode == 1
    assert '"ada" is banned: it cheats' in refused.stderr
    whose = f"--server={server.address}"
    refused = processes.run("admin", "owners", whose, MEIJIN_OPERATOR_TOKEN=ada)
    assert "of kind operator, not bot; give one with --token or MEIJIN_OP" in refused.stderr
    refused = processes.run("admin", "owners", whose, MEIJIN_TOKEN=ada)
    assert "MEIJIN_OPERATOR_TOKEN; MEIJIN_TOKEN is for bots alone" in refused.stderr
    listed = json.loads(run("admin", "audit", "--json"))["acts"]
    assert [(act["kind"], act["action"], act["subject"]) for act in listed] == [
        ("operator", "ban", "bot ada"),
        ("owner", "show", "bot ada"),
        ("owner", "hide", "bot ada"),
        ("owner", "register", "bot ada"),
        ("anyone", "use", "invitation 1"),
        ("anyone", "make", "owner eve"),
        ("operator", "invite", "invitation 1"),
    ]
    told = run("admin", "audit", "--json") + server.process.words
    assert not [secret for secret in (invitation, eve, ada) if secret[-20:] in told]


def test_the_operators_token_is_rotated_while_commands_run(processes: Processes) -> None:
    """A follower that needs no token goes on; the next command reads the new one from the file."""
    server = Server(processes, "--registration=closed", NO_LADDER)
    kept = {"MEIJIN_DATA": str(server.data), "MEIJIN_SERVER": server.address}
    file = server.data / "operator.token"
    old = file.read_text().strip()
    for name in ("ada", "bob"):
        assert processes.run("bot", "register", name, **kept).returncode == 0
    made = processes.run("tournament", "run", "--detach", "ada", "bob", "--json", **kept)
    key = json.loads(made.stdout)["tournament_id"]
    watch = processes.start("watch", "tournament", "watch", key, **kept)
    eventually(lambda: watch.is_running)
    rotated = processes.run("token", "rotate", "1", **kept)
    assert rotated.returncode == 0, rotated.stderr
    assert file.read_text() == rotated.stdout
    assert file.stat().st_mode & 0o777 == 0o600
    assert processes.run("token", "list", MEIJIN_OPERATOR_TOKEN=old, **kept).returncode == 1
    assert processes.run("tournament", "cancel", key, **kept).returncode == 0
    assert watch.wait() == 0


def test_a_token_is_saved_for_its_owner_alone(processes: Processes) -> None:
    """And printed nowhere; a rotated one takes its place."""
    server = Server(processes, NO_LADDER)
    kept = {"MEIJIN_SERVER": server.address, "MEIJIN_DATA": str(server.data)}
    register = ("bot", "register", "ada", "--save=ada.token")
    saved = processes.run(*register, **kept)
    assert saved.returncode == 0, saved.stderr
    file = processes.folder / "ada.token"
    assert file.stat().st_mode & 0o777 == 0o600
    first = file.read_text().strip()
    assert first not in saved.stdout + saved.stderr
    assert processes.run(*register, "--rotate", **kept).returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().strip() != first
    assert sorted(path.name for path in processes.folder.glob("ada*")) == ["ada.token"]
