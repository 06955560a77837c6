"""Testing bots and servers in pytest, against a real server in the test's own process.

For authors of bots:

- `running_server`: `run_server`, which bots are added to and play on
- `match`: a match between two of them, and its games
- `plugin`: the fixture `meijin_server`, for ``pytest_plugins = ["meijin.testing.plugin"]``
- `errors`: why a match has no result

For developers of the server:

- `desk`: what owners and operators call, by name and with any token
- `server`: a server on the event loop of the test
- `peer`: a scripted bot on the wire
- `settings`: a server's settings that no environment changes

Below them:

- `server_thread`: a server on an event loop and in a thread of its own
"""

from meijin.testing.errors import BotStoppedError, MatchError, MatchTimeoutError
from meijin.testing.match import PlayedGame
from meijin.testing.running_server import RunningServer, run_server

__all__ = [
    "BotStoppedError",
    "MatchError",
    "MatchTimeoutError",
    "PlayedGame",
    "RunningServer",
    "run_server",
]
