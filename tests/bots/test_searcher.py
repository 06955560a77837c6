"""How a bot's methods are called: in threads and on the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from meijin.bots import Answer, Bot, Position
from meijin.bots.batch_searcher import searcher_for
from meijin.bots.facts import Started, Turn
from meijin.bots.outbox import Outbox
from meijin.bots.searcher import Searcher
from meijin.bots.seat import Seat
from meijin.bots.threads import SearchThreads
from meijin.game import GOMOKU, Color, TimeControl
from meijin.v1.play_service_pb2 import Failure
