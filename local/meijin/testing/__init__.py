"""Testing bots and servers in pytest, against a real server in the test's own process.

For authors of bots:

- `running_server`: `run_server`, which bots are added to and play on
- `match`: a match between two of them, its games, and why it has none
- `plugin`: the fixture `meijin_server`, for ``pytest_plugins = ["meijin.testing.plugin"]``

Below them:

- `server`: a server on the event loop of the test, or in a thread with its own
- `settings`: a server's settings that no environment changes
"""

from meijin.testing.match import BotStoppedError, MatchError, MatchTimeoutError, PlayedGame
from meijin.testing.running_server import RunningServer, run_server

__all__ = [
    "BotStoppedError",
    "MatchError",
    "MatchTimeoutError",
    "PlayedGame",
    "RunningServer",
    "run_server",
]
