"""The bots without the SDK, as processes against a server."""

import ast
import signal

from tests.authority import AuthorityFiles
from tests.examples.conftest import COMMANDS, EXAMPLES
from tests.processes import Process, Processes, eventually, processes_of
from tests.system.chaos.proxy import Link
from tests.system.server import NO_LADDER, Server

CONNECTED = "connected as"
OPPONENT = "slow"


def start(server: Server, name: str, address: str, **env: str) -> Process:
    """Start an example under the name of its folder."""
    command = (*COMMANDS[name], name)
    return server.processes.start_command(name, *command, MEIJIN_SERVER=address, **env)


def test_lost_connections(server: Server) -> None:
    """A cut and a restart of the server cost no game, and a signal ends a bot for good."""
    links = {name: Link(server.port) for name in COMMANDS}
    bots = {name: start(server, name, link.address) for name, link in links.items()}
    server.start_bots(OPPONENT, delay=0.4)
    eventually(lambda: server.connected_bots() >= bots.keys())
    server.create_tournament(*bots, OPPONENT, rounds=6, time="10+0.5")
    eventually(server.books.running)
    for link in links.values():
        link.cut()
    for bot in bots.values():
        bot.wait_for(CONNECTED, times=2)
    assert server.books.running()
    assert server.process.stop() == 0
    server.start()
    server.assert_all_is_played(18)
    for bot in bots.values():
        assert bot.has_said("the server is about to stop; games go on after its return")
        assert bot.has_said(CONNECTED, times=3)
        assert bot.stop() == 0
    eventually(lambda: server.connected_bots() == {OPPONENT})
    for link in links.values():
        link.close()
    assert not processes_of(server.folder) & {bot.pid for bot in bots.values()}


def test_interrupt_in_a_game(server: Server) -> None:
    """Ctrl-C leaves games to wait for the bot's return, which goes on with them."""
    bots = [start(server, name, server.address) for name in COMMANDS]
    server.start_bots(OPPONENT, delay=0.3)
    eventually(lambda: server.connected_bots() >= COMMANDS.keys())
    server.create_tournament(*COMMANDS, OPPONENT, rounds=2, time="10+0.5")
    for bot in bots:
        bot.wait_for(f"against {OPPONENT}")
        assert bot.stop(signal.SIGINT) == 0
    running = server.books.running()
    assert running
    for name in COMMANDS:
        start(server, name, server.address)
    server.assert_all_is_played(6)
    assert running <= {str(game.id) for game in server.books.games()}


def test_refusal(guarded_server: Server) -> None:
    """A bot whose token the server doesn't know says so and ends."""
    for name in COMMANDS:
        bot = start(guarded_server, name, guarded_server.address, MEIJIN_TOKEN="gmk_bot_wrong")
        assert bot.wait() == 1
        assert "token" in bot.words


def test_tls(processes: Processes) -> None:
    """Both trust the authority that they are told of."""
    files = AuthorityFiles(processes.folder)
    options = [f"--{name}={path}" for name, path in files.server().items()]
    server = Server(processes, "--open", NO_LADDER, *options)
    address = f"grpcs://{server.address}"
    for name in COMMANDS:
        bot = start(server, name, address, MEIJIN_CA=str(files.ca))
        bot.wait_for(f"{CONNECTED} {name} to {address}")
        assert bot.stop() == 0


def test_token_in_plain_text(guarded_server: Server) -> None:
    """No token is sent to another machine without TLS."""
    for name in COMMANDS:
        bot = start(guarded_server, name, "nowhere.invalid", MEIJIN_TOKEN="gmk_bot_x")
        assert bot.wait() == 1
        assert "the token would go to nowhere.invalid" in bot.words


def test_plain_python_needs_the_generated_code_alone() -> None:
    """It imports grpcio, the messages and the standard library, none of the SDK."""
    tree = ast.parse((EXAMPLES / "python-plain" / "plain_bot.py").read_text())
    modules = {
        node.module if isinstance(node, ast.ImportFrom) else name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    others = {str(module) for module in modules if str(module).startswith(("grpc", "meijin"))}
    assert others == {"grpc", "meijin.v1", "meijin.v1.play_service_pb2_grpc"}
