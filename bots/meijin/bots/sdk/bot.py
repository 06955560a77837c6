"""Bot: the class to subclass, and a bot that is a plain function."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from meijin.bots.sdk.answer import Answer, Stones
from meijin.bots.sdk.position import Position
from meijin.game import RULES, Board, Color, Offer, Outcome, Task, parse_cell
from meijin.game.position import distinct_cells
from meijin.wire.capabilities import Capabilities

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
DIGEST_LENGTH = 16


class Bot:
    """A bot. Subclass it, write `choose`, and hand an instance to `run`.

    Plain methods are called in the search thread, one at a time unless `run` is told to use
    more threads; where `choose` or `choose_many` is ``async def``, that method and the two
    hooks are called on the event loop, and must not block it.
    """

    name: str = "bot"
    """What it is called where no token says so: by default ``my-bot`` for ``class MyBot``."""
    version: str = "1"
    """What people call this version."""
    capabilities: Capabilities = Capabilities()
    search_threads: int | None = None
    """That its search of one game uses; ``None`` where that is not known."""
    memory_bytes: int | None = None
    """That it keeps to; ``None`` where that is not known."""

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__:
            cls.name = kebab_case(cls.__name__)

    @property
    def configuration(self) -> Mapping[str, str]:
        """The options that make it play as it does; other options are another version."""
        return {}

    @property
    def digest(self) -> str:
        """Tells versions apart: the start of a SHA-256, in hexadecimal.

        Over the files that define its class and the bases between that and `Bot`, or over
        name and version where there is no file, and over the configuration.
        """
        sha = hashlib.sha256()
        for source in self._program() or [f"{self.name}\0{self.version}".encode()]:
            sha.update(source)
        for option in sorted(self.configuration.items()):
            sha.update("\0".join(option).encode())
        return sha.hexdigest()[:DIGEST_LENGTH]

    def _program(self) -> list[bytes]:
        """The files that define its class and the bases below `Bot`; none where one is missing."""
        kinds = [base for base in type(self).__mro__ if issubclass(base, Bot) and base is not Bot]
        return _files(kinds)

    def prepare(self) -> None:
        """Hook: get ready, before the bot says hello and any clock runs; it may take a while.

        Called once by the client, in a search thread, and by nobody where there is no client.
        """

    def choose(self, position: Position) -> Answer | Awaitable[Answer]:
        """Return a cell, a `Choice` with an analysis, or `RESIGN`; may be ``async def``.

        An exception forfeits this game as a crash and leaves the others alone.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a choose or a choose_many method")

    def place_opening(self, position: Position, stones: int) -> Stones | Awaitable[Stones]:
        """Return the cells of this many stones of an opening, black and white in turn.

        For bots whose capabilities name other opening rules than the free one: with swap2 the
        first player places three, and the opponent then takes the better side. Where stones must
        lie in central squares, `Position.opening_cells` lists the cells. Here any of them. Called
        where `choose` is, as those below are: may be ``async def`` where that is.
        """
        return drawn_stones(position, stones, Random(position.game_id))  # noqa: S311 - no secret

    def choose_side(
        self,
        position: Position,
        stones: int,  # noqa: ARG002 - for others
    ) -> Color | Stones | Offer | Awaitable[Color | Stones | Offer]:
        """Return the side to play after an opening, whose stones are on the board: here that to move.

        Where `stones` isn't 0, the bot may return the cells of this many further stones instead,
        in the order played; then the opponent chooses. Where the position's task has `offers`, it
        may return an `Offer` of so many cells instead.
        """
        return position.board.side_to_move

    def declare_offers(self, position: Position, most: int) -> int | Awaitable[int]:  # noqa: ARG002 - for others
        """Return how many cells black is to offer for the fifth stone, from 1 to `most`: here 1."""
        return 1

    def offer_cells(
        self, position: Position, count: int
    ) -> Sequence[int] | Awaitable[Sequence[int]]:
        """Return this many cells for the next stone, of which the opponent takes one.

        No two may be the same up to symmetry. Here those nearest to the centre.
        """
        return distinct_cells(position.board, central_first(position.board))[:count]

    def take_offered(self, position: Position, cells: Sequence[int]) -> int | Awaitable[int]:  # noqa: ARG002 - for others
        """Return which of the opponent's cells has its stone: here the first."""
        return cells[0]

    def choose_many(
        self, positions: Sequence[Position]
    ) -> Sequence[Answer] | Awaitable[Sequence[Answer]]:
        """Return the answers for all of `positions`, in their order; may be ``async def``.

        A bot that has it is given every game that waits for it in one call. If it fails,
        each of them is tried with `choose`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no choose_many method")

    def evaluate(self, position: Position) -> Answer | Awaitable[Answer]:
        """Return what there is to play in a position outside of games: what `choose` says.

        For bots whose capabilities say that they evaluate. The position has no game, no
        opponent, and perhaps a limit of nodes; its clock is what the search may take.
        """
        return self.choose(position)

    def evaluate_many(
        self, positions: Sequence[Position]
    ) -> Sequence[Answer] | Awaitable[Sequence[Answer]]:
        """Return what there is to play in each of `positions`: what `choose_many` says."""
        return self.choose_many(positions)

    def game_started(self, position: Position) -> None:
        """Hook: a game started; called once, before the bot's first turn in it."""

    def game_ended(self, game_id: str, outcome: Outcome | None) -> Awaitable[None] | None:
        """Hook: a game ended; called once, without `outcome` if the bot was away.

        Where it is ``async``, the bot gets no other game in its place before it has returned.
        """

    def close(self) -> None:
        """Hook: the bot has left, or never got in; called once, last of all."""


def drawn_stones(position: Position, stones: int, rng: Random) -> Sequence[int]:
    """Any stones that the opening allows."""
    if position.task is None or not position.task.squares:
        return rng.sample(position.legal_cells(), stones)
    cells: list[int] = []
    for stone in range(stones):
        allowed = position.opening_cells(stone)
        cells.append(rng.choice([cell for cell in allowed if cell not in cells]))
    return cells


def central_first(board: Board) -> list[int]:
    """The cells that may have a stone, those nearest to the centre first."""
    width, height = board.variant.width, board.variant.height

    def distance(cell: int) -> int:
        row, column = divmod(cell, width)
        return (row - height // 2) ** 2 + (column - width // 2) ** 2

    return sorted(board.legal_cells(), key=distance)


def options_given(**options: object) -> Mapping[str, str]:
    """A configuration: the options that are not ``None``, as texts."""
    return {name: str(option) for name, option in options.items() if option is not None}


def answer_task(bot: Bot, position: Position, task: Task) -> tuple[Callable[..., object], object]:
    """The method that answers a task, and what it returns."""
    if task.may_choose:
        return bot.choose_side, bot.choose_side(position, task.stones)
    if task.most_offers:
        return bot.declare_offers, bot.declare_offers(position, task.most_offers)
    if task.offers:
        return bot.offer_cells, bot.offer_cells(position, task.offers)
    if task.among:
        return bot.take_offered, bot.take_offered(position, task.among)
    return bot.place_opening, bot.place_opening(position, task.stones)


async def settled(found: object) -> object:
    """What a method has returned, awaited where it is ``async``."""
    return await found if inspect.isawaitable(found) else found


def overrides(bot: Bot, method: str) -> bool:
    """Whether a bot has a method of its own."""
    return getattr(type(bot), method) is not getattr(Bot, method)


def kebab_case(name: str) -> str:
    """Write the name of a class in kebab case: ``MyBot`` as ``my-bot``."""
    return _WORD_START.sub("-", name).replace("_", "-").strip("-").lower()


def _files(defined: Iterable[type | Callable[..., object]]) -> list[bytes]:
    """The files in which classes or functions are defined; none where one is missing."""
    try:
        paths = dict.fromkeys(inspect.getsourcefile(each) or "" for each in defined)
        return [Path(path).read_bytes() for path in paths]
    except (OSError, TypeError):
        return []


Chooser: TypeAlias = Callable[[Position], Answer | str]
"""A function that returns what `Bot.choose` does, or the name of a point, such as ``h8``."""

_NAME_LENGTH: Final = 40
_NO_NAME = re.compile(r"[^A-Za-z0-9_]")


class FunctionBot(Bot):
    """A bot that is a function, under the function's name.

    The function says nothing of what it can play, so it is asked whatever the match is. A
    `functools.partial` has its keywords as options.
    """

    capabilities = Capabilities(rules=tuple(RULES.values()), min_size=3, max_size=22, any_line=True)

    def __init__(self, function: Chooser) -> None:
        self._choose = function
        inner = function.func if isinstance(function, partial) else function
        self._defined = inner if inspect.isfunction(inner) else type(inner)
        name = kebab_case(_NO_NAME.sub("", self._defined.__name__))
        self.name = name[:_NAME_LENGTH] or "function"

    @property
    def configuration(self) -> Mapping[str, str]:
        if isinstance(self._choose, partial):
            return options_given(**self._choose.keywords)
        return {}

    def _program(self) -> list[bytes]:
        name = f"{self._defined.__module__}.{self._defined.__qualname__}"
        return [*_files([self._defined]), name.encode()]

    def choose(self, position: Position) -> Answer:
        found = self._choose(position)
        return parse_cell(found, position.variant) if isinstance(found, str) else found


def as_bot(bot: Bot | Chooser) -> Bot:
    """A bot as it is, and a function as one.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(bot, Bot):
        return bot
    if not callable(bot) or isinstance(bot, type):
        raise TypeError(f"{bot!r} is no bot; give an instance of a subclass of Bot, or a function")
    return FunctionBot(bot)
