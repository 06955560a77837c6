"""Writing bots: subclass `Bot`, and hand an instance to `run`; or hand it a plain function."""

from meijin.bots.builtin.alphabeta import AlphaBetaBot
from meijin.bots.builtin.catalogue import BUILT_IN, check_bot, find_bot, load_bot
from meijin.bots.builtin.mcts import MctsBot
from meijin.bots.builtin.random_bot import RandomBot
from meijin.bots.builtin.reference_bot import ReferenceBot
from meijin.bots.builtin.template import bot_source
from meijin.bots.sdk.answer import RESIGN, Analysis, Answer, Choice, Resignation, Unchecked
from meijin.bots.sdk.bot import Bot, Chooser, FunctionBot
from meijin.bots.sdk.client import Client
from meijin.bots.sdk.errors import (
    ArenaError,
    BotLoadError,
    GameFailedError,
    InvalidBotError,
    MissingExtraError,
    NoArenaError,
    NotAllowedError,
    RefusedError,
    ReplacedError,
    SupplierError,
    TokenRefusedError,
    VersionRefusedError,
)
from meijin.bots.sdk.position import Position
from meijin.bots.sdk.runner import run, serve
from meijin.bots.sdk.turn import Charge
from meijin.wire.capabilities import Capabilities
from meijin.wire.channel import Security

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
    "Charge",
    "Choice",
    "Chooser",
    "Client",
    "FunctionBot",
    "GameFailedError",
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
    "Security",
    "SupplierError",
    "TokenRefusedError",
    "Unchecked",
    "VersionRefusedError",
    "bot_source",
    "check_bot",
    "find_bot",
    "load_bot",
    "run",
    "serve",
]
