"""A person's game as the page's script is told of it."""

import time
from dataclasses import dataclass
from datetime import timedelta

from meijin.game import Color, Outcome
from meijin.web.play.person_game import PersonGame
from meijin.web.wording import text


@dataclass(frozen=True, slots=True)
class BoardState:
    """Everything that the page shows of a game, as JSON has it."""

    version: int
    moves: tuple[int, ...]
    color: str
    """The person's: ``black`` or ``white``."""
    is_turn: bool
    """The person is asked for something."""
    stones: int
    """How many it is asked to place at once."""
    may_choose: bool
    forbidden: tuple[int, ...]
    winning: tuple[tuple[int, ...], ...]
    own_ms: int | None
    """Left to the person now; ``None`` before any turn."""
    opponent_ms: int | None
    is_over: bool
    prompt: str
    """What is to be done, or how it ended, in words."""
    notice: str
    """Why the last move had no effect; may be empty."""
    undo: str
    """What would be taken back, in words; empty where the person has no stone on the board."""


def state_of(game: PersonGame) -> BoardState:
    turn = game.turn
    own_ms, opponent_ms = _left(game)
    return BoardState(
        version=game.version,
        moves=game.moves,
        color=game.color.name.lower(),
        is_turn=turn is not None,
        stones=0 if turn is None else turn.stones,
        may_choose=turn is not None and turn.may_choose,
        forbidden=game.forbidden,
        winning=game.winning if game.outcome is not None else (),
        own_ms=own_ms,
        opponent_ms=opponent_ms,
        is_over=game.outcome is not None,
        prompt=_prompt(game),
        notice=game.notice,
        undo=_undo(game),
    )


def _undo(game: PersonGame) -> str:
    ply = game.last_own_ply
    return "" if ply is None else text("play.undo", cell=game.name(game.moves[ply]))


def _left(game: PersonGame) -> tuple[int | None, int | None]:
    """What both sides have left, of which one's clock has run since it was told."""
    clocks = game.clocks
    if clocks is None:
        return None, None
    spent = timedelta(seconds=time.monotonic() - clocks.since)
    is_own = game.turn is not None
    own, opponent = clocks.own, clocks.opponent
    if game.outcome is None:
        own, opponent = (own - spent, opponent) if is_own else (own, opponent - spent)
    millisecond = timedelta(milliseconds=1)
    return max(0, own // millisecond), max(0, opponent // millisecond)


def _prompt(game: PersonGame) -> str:
    if game.outcome is not None:
        return _end(game.outcome, game.color)
    turn = game.turn
    if turn is None:
        return text("play.waiting")
    if turn.may_choose and turn.stones:
        return text("play.choose_or_place", stones=turn.stones)
    if turn.may_choose:
        return text("play.choose")
    if turn.stones > 1:
        return text(
            "play.place_stones", stones=turn.stones, order=_order(len(game.moves), turn.stones)
        )
    return text(f"play.your_move_{_side(len(game.moves))}")


def _end(outcome: Outcome, color: Color) -> str:
    winner = outcome.result.winner
    if winner is None:
        key = "void" if outcome.ending.value == "void" else "draw"
        words = text(f"play.end_{key}")
    else:
        words = text("play.end_won" if winner is color else "play.end_lost")
    cause = text(f"play.cause.{outcome.ending.value}")
    return f"{words} {cause}" + (f" {outcome.detail}" if outcome.detail else "")


def _order(ply: int, stones: int) -> str:
    """The colours of stones that are placed at once, in words."""
    return ", ".join(text(f"play.{_side(each)}") for each in range(ply, ply + stones))


def _side(ply: int) -> str:
    return "white" if ply % 2 else "black"
