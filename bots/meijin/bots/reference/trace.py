"""What a search did: every position that it entered, and every move that it left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic

from meijin.bots.reference.game import Move


@dataclass(frozen=True, slots=True)
class Window:
    """The window of alpha and beta: what each side is sure of."""

    alpha: float = -math.inf
    """The maximiser's best so far."""
    beta: float = math.inf
    """The minimiser's best so far."""

    def narrowed(self, value: float, *, maximises: bool) -> Window:
        """The window once the side to move can have `value`."""
        if maximises:
            return Window(max(self.alpha, value), self.beta)
        return Window(self.alpha, min(self.beta, value))

    def __str__(self) -> str:
        return f"({self.alpha:g}, {self.beta:g})"


@dataclass(slots=True)
class Step(Generic[Move]):
    """A position of the search, or one that it did not visit."""

    path: tuple[Move, ...]
    """The moves that lead there from the first position."""
    maximises: bool
    """Whether the maximiser is to move."""
    entered: Window = Window()
    """With which the position is entered."""
    left: Window = Window()
    """With which it is left: narrowed by what its moves gave."""
    value: float | None = None
    """To the maximiser; ``None`` for a position that was not visited."""
    steps: list[Step[Move]] = field(default_factory=list)
    """One for each of its moves, in the order searched, those left out last."""

    @property
    def move(self) -> Move | None:
        return self.path[-1] if self.path else None

    @property
    def depth(self) -> int:
        return len(self.path)

    @property
    def is_visited(self) -> bool:
        return self.value is not None

    @property
    def is_cut_off(self) -> bool:
        """Whether some of its moves were left out since the window had closed."""
        return any(not step.is_visited for step in self.steps)

    @property
    def relation(self) -> str:
        """How the true value stands to `value`: ``=``, ``<=`` or ``>=``."""
        if self.is_exact:
            return "="
        assert self.value is not None
        return ">=" if self.value >= self.entered.beta else "<="

    @property
    def is_exact(self) -> bool:
        """Whether `value` is the true one, and no bound of it that was enough."""
        if self.value is None:
            return False
        inside = self.entered.alpha < self.value < self.entered.beta
        return inside or all(step.is_exact for step in self.steps)

    def walk(self) -> Iterator[Step[Move]]:
        yield self
        for step in self.steps:
            yield from step.walk()


class Trace(Generic[Move]):
    """Listens to one search and keeps its steps as a tree."""

    root: Step[Move]

    def __init__(self) -> None:
        self._open: list[Step[Move]] = []

    def enter(self, move: Move | None, window: Window, *, maximises: bool) -> None:
        """The search makes a move, or begins with ``None``."""
        if move is None:
            self.root = Step((), maximises, window, window)
            self._open = [self.root]
            return
        above = self._open[-1]
        step = Step((*above.path, move), maximises, window, window)
        above.steps.append(step)
        self._open.append(step)

    def leave(self, value: float) -> None:
        """The search goes back with a value."""
        step = self._open.pop()
        step.value = value
        if self._open:
            above = self._open[-1]
            above.left = above.left.narrowed(value, maximises=above.maximises)

    def skip(self, moves: Iterable[Move]) -> None:
        above = self._open[-1]
        for move in moves:
            above.steps.append(Step((*above.path, move), not above.maximises))

    def text(self, name: Callable[[Step[Move]], str] = lambda step: str(step.move)) -> str:
        """A line for each step, indented by depth; `name` says what a step is called."""
        return "\n".join(f"{'  ' * step.depth}{_line(step, name)}" for step in self.root.walk())


def _line(step: Step[Move], name: Callable[[Step[Move]], str]) -> str:
    label = name(step) if step.path else "root"
    if step.value is None:
        return f"{label}: not visited"
    if not step.steps:
        return f"{label} = {step.value:g}"
    side = "max" if step.maximises else "min"
    cut = f", cut off at {step.left}" if step.is_cut_off else ""
    return f"{label} {side} {step.relation} {step.value:g}, entered with {step.entered}{cut}"
