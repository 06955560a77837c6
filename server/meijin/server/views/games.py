"""Views of games: what the store has of them, merged with what is being played."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from meijin.game import (
    Analysis,
    Ending,
    GameRecord,
    Outcome,
    Seat,
    SideChoice,
    TimeControl,
    Variant,
    decode_moves,
)
from meijin.game.records.analysis import cells_on_board
from meijin.server.match.live.live_game import LiveGame
from meijin.store.games import GameRow, decode_choice, decode_times
from meijin.store.schema import GameId, GameState, TournamentId


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSummary:
    """A game in a list."""

    id: GameId
    tournament_id: TournamentId
    black: str
    """The bot's name."""
    white: str
    black_version: str = ""
    """The version's label; empty when it has none, or is not looked up."""
    white_version: str = ""
    variant: Variant
    time_control: TimeControl
    """Black's, and white's where that is not told."""
    white_time_control: TimeControl | None = None
    """``None`` where it is black's."""
    state: GameState
    outcome: Outcome | None
    """``None`` while the game is running."""
    opening_plies: int
    ply: int
    """How many stones lie on the board."""
    start_time: datetime
    end_time: datetime | None
    is_repeat: bool = False
    """An earlier game of the ladder was the same, so this one is not rated."""
    reason: str
    """Why the two were to meet; empty when a schedule said so."""
    is_swapped: bool = False
    """The first player has white, by a choice of its opening."""
    ladder: str = ""
    """The ladder that it is rated on; empty when it is unrated, or is not looked up."""
    tournament_name: str = ""
    """Empty when it is not looked up."""


@dataclass(frozen=True, slots=True)
class GameMove:
    """A move with the time it took."""

    cell: int
    raw_ns: int | None
    """Nanoseconds from the request to the answer; ``None`` in the opening."""
    charged_ns: int | None
    """Nanoseconds taken off the clock; ``None`` in the opening."""
    analysis: Analysis | None = None
    """What the bot thought of it; ``None`` where it said nothing, or where it is not asked for."""


@dataclass(frozen=True, slots=True)
class GameChoice:
    """The choice of a side with the time it took."""

    side: SideChoice
    raw_ns: int
    charged_ns: int


@dataclass(frozen=True, slots=True)
class GameDetail:
    """A game with its moves."""

    summary: GameSummary
    moves: tuple[GameMove, ...]
    choice: GameChoice | None = None
    """``None`` where no side is chosen, or none yet."""


def game_summary(row: GameRow, live: LiveGame | None) -> GameSummary:
    """A stored game in a list; while it runs, it is as far as in the arena."""
    outcome = None
    if row.ending is not None:
        outcome = Outcome(row.ending, row.result.winner, row.at_fault, row.detail)
    running = _running(row, live)
    is_swapped = row.is_swapped if running is None else running.is_swapped
    sides = ((row.black, row.black_version), (row.white, row.white_version))
    # While the game runs the first player is stored as black.
    is_exchanged = is_swapped and not row.is_swapped
    black, white = sides[::-1] if is_exchanged else sides
    controls = (row.control_of(row.black_id), row.control_of(row.white_id))
    black_control, white_control = controls[::-1] if is_exchanged else controls
    return GameSummary(
        id=row.id,
        tournament_id=row.tournament_id,
        black=black[0],
        white=white[0],
        black_version=black[1],
        white_version=white[1],
        variant=row.variant,
        time_control=black_control,
        white_time_control=_other(white_control, black_control),
        state=row.state,
        outcome=outcome,
        opening_plies=row.opening_plies,
        ply=len(row.moves) // 2 if running is None else len(running.committed_moves),
        start_time=row.start_time,
        end_time=row.end_time,
        is_repeat=row.is_repeat,
        reason=row.reason,
        is_swapped=is_swapped,
        ladder=row.ladder,
        tournament_name=row.tournament_name,
    )


def game_detail(
    row: GameRow, live: LiveGame | None, said: Mapping[str, Any] | None = None
) -> GameDetail:
    """A stored game with its moves; those of one that runs are the arena's.

    Args:
        said: What the bots said they thought in a game that has ended, by ply.
    """
    summary, running = game_summary(row, live), _running(row, live)
    if running is not None:
        detail = GameDetail(summary, live_moves(running), live_choice(running))
        return _with_analysis(detail, running.analysis)
    choice = None if row.choice is None else GameChoice(*decode_choice(row.choice))
    raw, charged = decode_times(row.times)
    moves = _moves(decode_moves(row.moves), row.opening_plies, raw, charged)
    return _with_analysis(GameDetail(summary, moves, choice), said)


def _with_analysis(game: GameDetail, said: Mapping[str, Any] | None) -> GameDetail:
    if not said:
        return game
    moves = [
        replace(move, analysis=told_analysis(said.get(str(ply)), game.summary.variant))
        for ply, move in enumerate(game.moves)
    ]
    return replace(game, moves=tuple(moves))


def told_analysis(said: Mapping[str, Any] | None, variant: Variant) -> Analysis | None:
    """What was kept of a bot's words, which nobody has checked."""
    if said is None:
        return None
    return Analysis(
        score=said.get("score", 0),
        depth=said.get("depth", 0),
        nodes=said.get("nodes", 0),
        pv=cells_on_board(said.get("pv", ()), variant),
    )


def _running(row: GameRow, live: LiveGame | None) -> LiveGame | None:
    """A stored game as it is being played; ``None`` where it had ended when it was read."""
    return live if row.state is GameState.RUNNING else None


def live_summary(game: LiveGame) -> GameSummary:
    """A running game in a list, or one that has just ended."""
    outcome, state = game.arbiter.outcome, GameState.RUNNING
    black = Seat.SECOND if game.is_swapped else Seat.FIRST
    if outcome is not None:
        state = GameState.VOID if outcome.ending is Ending.VOID else GameState.FINISHED
    return GameSummary(
        id=game.id,
        tournament_id=game.run.id,
        black=game.black.name,
        white=game.white.name,
        variant=game.run.variant,
        time_control=game.time_control(black),
        white_time_control=_other(game.time_control(black.other), game.time_control(black)),
        state=state,
        outcome=outcome,
        opening_plies=game.opening_plies,
        ply=len(game.committed_moves),
        start_time=game.start_time,
        end_time=game.end_time,
        reason=game.pairing.reason,
        is_swapped=game.is_swapped,
    )


def _other(control: TimeControl, than: TimeControl) -> TimeControl | None:
    return None if control == than else control


def live_choice(game: LiveGame) -> GameChoice | None:
    """The committed choice of a side in a running game."""
    choice = game.committed_choice
    return None if choice is None else GameChoice(choice, *game.arbiter.choice_ns)


def live_moves(game: LiveGame, *, since: int = 0) -> tuple[GameMove, ...]:
    """The committed moves of a running game from a ply on."""
    arbiter = game.arbiter
    cells = game.committed_moves
    return _moves(cells, game.opening_plies, arbiter.raw_ns, arbiter.charged_ns, since=since)


def _moves(
    cells: Sequence[int],
    opening_plies: int,
    raw: Sequence[int],
    charged: Sequence[int],
    *,
    since: int = 0,
) -> tuple[GameMove, ...]:
    """Cells with their times, of which the opening has none."""
    moves = []
    for ply in range(since, len(cells)):
        place = ply - opening_plies
        is_timed = 0 <= place < len(raw)
        times = (raw[place], charged[place]) if is_timed else (None, None)
        moves.append(GameMove(cells[ply], *times))
    return tuple(moves)


def record(game: GameDetail) -> GameRecord:
    """A game as a record, to be exported."""
    summary = game.summary
    return GameRecord(
        variant=summary.variant,
        black=summary.black,
        white=summary.white,
        moves=tuple(move.cell for move in game.moves),
        times=_times(move.charged_ns for move in game.moves),
        raw_times=_times(move.raw_ns for move in game.moves),
        analysis=tuple(move.analysis for move in game.moves),
        opening_plies=summary.opening_plies,
        time_control=summary.time_control,
        white_time_control=summary.white_time_control,
        outcome=summary.outcome,
        start_time=summary.start_time,
        end_time=summary.end_time,
        event=f"tournament {summary.tournament_id}",
        game_id=str(summary.id),
        choice=None if game.choice is None else game.choice.side,
        black_version=summary.black_version,
        white_version=summary.white_version,
    )


def _times(nanoseconds: Iterable[int | None]) -> tuple[timedelta, ...]:
    return tuple(timedelta(microseconds=(each or 0) // 1000) for each in nanoseconds)
