"""Owners and operators at the command line of a real server."""

import json

import pytest
from tests.processes import Processes, eventually
from tests.system.server import NO_LADDER, Server


@pytest.mark.smoke
def test_an_owner_from_the_invitation_to_the_ban(processes: Processes) -> None:
    """Each step by command, by whom it is for, and all of it in the audit log."""
    server = Server(processes, "--registration=invitation", NO_LADDER)
    invitation = server.tell("admin", "invite", "--quota=1").strip()
    processes.tell(
        "login",
        f"--invitation={invitation}",
        "--name=eve",
        f"--server={server.address}",
        MEIJIN_OPERATOR_TOKEN=invitation,
    )
    profile = processes.folder / "meijin" / "profile.json"
    assert profile.stat().st_mode & 0o777 == 0o600
    eve = json.loads(profile.read_text())["token"]
    by_eve = {"MEIJIN_SERVER": server.address, "MEIJIN_OPERATOR_TOKEN": eve}
    assert f" {eve[-6:]} " in processes.tell("token", "list")
    elsewhere = processes.refusal("token", "list", "--server=127.0.0.1:1")
    assert "no server answers at 127.0.0.1:1" in elsewhere
    processes.tell("logout")
    assert not profile.exists()
    ada = processes.tell("bot", "register", "ada", **by_eve).strip()
    bot = server.start_bot("ada", MEIJIN_TOKEN=ada)
    eventually(lambda: server.connected_bots() == {"ada"})
    hidden = processes.tell("bot", "set", "ada", "--hidden", **by_eve)
    assert "ada is active, and hidden" in hidden
    assert "ada" not in processes.tell("bot", "list", **by_eve).split()
    assert "ada" in processes.tell("bot", "list", "--all", **by_eve).split()
    assert "ada is active" in processes.tell("bot", "set", "ada", "--shown", **by_eve)
    server.tell("bot", "set", "ada", "--state=banned", "--reason=it cheats")
    assert bot.wait() == 1
    assert bot.has_said('"ada" is banned: it cheats')
    refused = processes.refusal("bot", "set", "ada", "--state=active", **by_eve)
    assert '"ada" is banned: it cheats' in refused
    owners = ("admin", "owners", f"--server={server.address}")
    refused = processes.refusal(*owners, MEIJIN_OPERATOR_TOKEN=ada)
    assert "of kind operator, not bot; give one with --token or MEIJIN_OP" in refused
    refused = processes.refusal(*owners, MEIJIN_TOKEN=ada)
    assert "of kind operator, not bot; give one with --token or MEIJIN_OP" in refused
    audit = server.ask("admin", "audit")
    assert [(act["kind"], act["action"], act["subject"]) for act in audit["acts"]] == [
        ("operator", "ban", "bot ada"),
        ("owner", "show", "bot ada"),
        ("owner", "hide", "bot ada"),
        ("owner", "register", "bot ada"),
        ("anyone", "use", "invitation 1"),
        ("anyone", "make", "owner eve"),
        ("operator", "invite", "invitation 1"),
    ]
    told = str(audit) + server.process.words
    assert not [secret for secret in (invitation, eve, ada) if secret[-20:] in told]


def test_a_token_is_saved_for_its_owner_alone(processes: Processes) -> None:
    """And printed nowhere, and in no file of the server; a rotated one takes its place."""
    server = Server(processes, NO_LADDER)
    register = ("bot", "register", "ada", "--owner=alan", "--save=ada.token")
    saved = server.run(*register)
    assert saved.returncode == 0, saved.stderr
    file = processes.folder / "ada.token"
    first = file.read_text().strip()
    server.tell(*register, "--rotate")
    assert file.stat().st_mode & 0o777 == 0o600
    files = [path for path in processes.folder.rglob("*") if path.is_file()]
    kept = {first: [], file.read_text().strip(): ["ada.token"], server.token: ["operator.token"]}
    for secret, names in kept.items():
        assert secret not in saved.stdout + saved.stderr
        assert [path.name for path in files if secret.encode() in path.read_bytes()] == names
    refused = server.refusal("bot", "run", "random", MEIJIN_TOKEN=first)  # rotated away
    assert "unknown token: register the bot" in refused
