"""Writing bots: subclass `Bot`, and hand an instance to `run`."""

from meijin.bots.alphabeta import AlphaBetaBot
from meijin.bots.answer import RESIGN, Analysis, Answer, Choice, Resignation
from meijin.bots.bot import Bot
from meijin.bots.catalogue import BUILT_IN, find_bot, load_bot
from meijin.bots.client import Client
from meijin.bots.errors import (
    ArenaError,
    BotLoadError,
    InvalidBotError,
    MissingExtraError,
    NoArenaError,
    NotAllowedError,
    RefusedError,
    ReplacedError,
    TokenRefusedError,
    VersionRefusedError,
)
from meijin.bots.mcts import MctsBot
from meijin.bots.position import Position
from meijin.bots.random_bot import RandomBot
from meijin.bots.reference_bot import ReferenceBot
from meijin.bots.runner import run, serve
from meijin.bots.template import bot_source
from meijin.wire import Capabilities

__all__ = [
    "BUILT_IN",
    "RESIGN",
    "AlphaBetaBot",
    "Analysis",
    "Answer",
    "ArenaError",
    "Bot",
    "BotLoadError",
    "Capabilities",
    "Choice",
    "Client",
    "InvalidBotError",
    "MctsBot",
    "MissingExtraError",
    "NoArenaError",
    "NotAllowedError",
    "Position",
    "RandomBot",
    "ReferenceBot",
    "RefusedError",
    "ReplacedError",
    "Resignation",
    "TokenRefusedError",
    "VersionRefusedError",
    "bot_source",
    "find_bot",
    "load_bot",
    "run",
    "serve",
]
