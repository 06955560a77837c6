"""Games as messages: what the store has of them, merged with what is being played."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from meijin.game import (
    Analysis,
    Choose,
    Decision,
    Declare,
    Ending,
    GameEngine,
    Offer,
    Outcome,
    Seat,
    TimeControl,
    Variant,
    decode_moves,
)
from meijin.game.records.analysis import cells_on_board
from meijin.server.match.live.commands import CPU_US
from meijin.server.match.live.live_game import LiveGame
from meijin.store.games import GameRow, decode_decisions, decode_times
from meijin.store.schema import GameState
from meijin.v1 import game_pb2 as pb
from meijin.wire.mapping import to_message
from meijin.wire.values import analysis_to_proto, color_to_proto


def stored_game(row: GameRow, live: LiveGame | None = None) -> pb.Game:
    """A stored game in a list; while it runs, it is as far as in the arena."""
    outcome = None
    if row.ending is not None:
        outcome = Outcome(row.ending, row.result.winner, row.at_fault, row.detail)
    running = _running(row, live)
    is_swapped = row.is_swapped if running is None else running.is_swapped
    black, white = _sides(row)
    if is_swapped and not row.is_swapped:  # while it runs the first player is stored as black
        black, white = white, black
    return to_message(
        row,
        pb.Game,
        black=black.name,
        white=white.name,
        black_version=black.version,
        white_version=white.version,
        black_engine=black.engine,
        white_engine=white.engine,
        time_control=black.control,
        white_time_control=None if white.control == black.control else white.control,
        outcome=outcome,
        ply=len(row.moves) // 2 if running is None else len(running.committed_moves),
        swapped=is_swapped,
        pairing_reason=row.reason,
        moves=None,
        decisions=None,
    )


class _Side(NamedTuple):
    """Who has a colour in a stored game."""

    name: str
    version: str
    engine: GameEngine
    control: TimeControl


def _sides(row: GameRow) -> tuple[_Side, _Side]:
    """Who is stored as black, and as white."""
    black = GameEngine(
        row.black_digest,
        tuple(row.black_configuration),
        row.black_hardware,
        row.black_threads,
        row.black_memory_bytes,
    )
    white = GameEngine(
        row.white_digest,
        tuple(row.white_configuration),
        row.white_hardware,
        row.white_threads,
        row.white_memory_bytes,
    )
    return (
        _Side(row.black, row.black_version, black, row.control_of(row.black_bot_id)),
        _Side(row.white, row.white_version, white, row.control_of(row.white_bot_id)),
    )


def whole_game(
    row: GameRow, live: LiveGame | None = None, said: Mapping[str, Any] | None = None
) -> pb.Game:
    """A stored game with its moves; those of one that runs are the arena's.

    Args:
        said: What the bots said they thought in a game that has ended, by ply.
    """
    game, running = stored_game(row, live), _running(row, live)
    if running is not None:
        said = running.analysis
        game.moves.extend(live_moves(running))
        game.decisions.extend(live_decisions(running))
    else:
        cells, (raw, charged) = decode_moves(row.moves), decode_times(row.times)
        game.moves.extend(_moves(cells, row.opening_plies, raw, charged))
        game.decisions.extend(map(_decision, *decode_decisions(row.decisions)))
    for ply, move in enumerate(game.moves if said else ()):
        about = (said or {}).get(str(ply))
        if about is not None and CPU_US in about:
            move.cpu_time.FromMicroseconds(about[CPU_US])
        analysis = told_analysis(about, row.variant)
        if analysis is not None:
            move.analysis.CopyFrom(analysis_to_proto(analysis))
    return game


def told_analysis(said: Mapping[str, Any] | None, variant: Variant) -> Analysis | None:
    """What was kept of a bot's words, which nobody has checked."""
    if said is None or not said.keys() - {CPU_US}:
        return None
    return Analysis(
        score=said.get("score"),
        depth=said.get("depth"),
        nodes=said.get("nodes"),
        pv=cells_on_board(said.get("pv", ()), variant),
    )


def _running(row: GameRow, live: LiveGame | None) -> LiveGame | None:
    """A stored game as it is being played; ``None`` where it had ended when it was read."""
    return live if row.state is GameState.RUNNING else None


def live_game(game: LiveGame) -> pb.Game:
    """A running game in a list, or one that has just ended."""
    outcome, state = game.arbiter.outcome, GameState.RUNNING
    if outcome is not None:
        state = GameState.VOID if outcome.ending is Ending.VOID else GameState.FINISHED
    black = Seat.SECOND if game.is_swapped else Seat.FIRST
    control, other = game.time_control(black), game.time_control(black.other)
    return to_message(
        game,
        pb.Game,
        tournament_id=game.run.id,
        black=game.black.name,
        white=game.white.name,
        variant=game.run.row.variant,
        time_control=control,
        white_time_control=None if other == control else other,
        state=state,
        outcome=outcome,
        ply=len(game.committed_moves),
        pairing_reason=game.pairing.reason,
        **dict.fromkeys(_NOT_LIVE),
    )


_NOT_LIVE = (
    *("black_version", "white_version", "ladder", "tournament_name", "repeat"),
    *("moves", "decisions", "black_engine", "white_engine", "pair", "round", "seed", "release"),
)
"""What is not told of a running game in a list."""


def live_decisions(game: LiveGame) -> Iterable[pb.OpeningDecision]:
    """The committed decisions of a running game's opening."""
    return map(_decision, game.committed_decisions, game.arbiter.decision_ns)


def live_moves(game: LiveGame, *, since: int = 0) -> Sequence[pb.Move]:
    cells, arbiter = game.committed_moves, game.arbiter
    return _moves(cells, game.opening_plies, arbiter.raw_ns, arbiter.charged_ns, since=since)


def _moves(
    cells: Sequence[int],
    opening_plies: int,
    raw: Sequence[int],
    charged: Sequence[int],
    *,
    since: int = 0,
) -> Sequence[pb.Move]:
    """Cells with their times, of which the opening has none."""
    moves = []
    for ply in range(since, len(cells)):
        move, place = pb.Move(cell=cells[ply]), ply - opening_plies
        if 0 <= place < len(raw):
            move.raw_time.FromNanoseconds(raw[place])
            move.charged_time.FromNanoseconds(charged[place])
        moves.append(move)
    return moves


def _decision(decision: Decision, times: tuple[int, int]) -> pb.OpeningDecision:
    message, (raw_ns, charged_ns) = pb.OpeningDecision(ply=decision.ply), times
    match decision.action:
        case Choose(color):
            message.color = color_to_proto(color)
        case Declare(offers):
            message.declared = offers
        case Offer(cells):
            message.offered.extend(cells)
    message.raw_time.FromNanoseconds(raw_ns)
    message.charged_time.FromNanoseconds(charged_ns)
    return message
