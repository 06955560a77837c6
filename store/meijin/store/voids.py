"""Void games: finished ones that an operator voids, so that they count nowhere any more."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, null, select, update

from meijin.game import Ending, Party, Result
from meijin.store.faults import VoidEvidence, add_faults
from meijin.store.ladders.days import forget_tallies
from meijin.store.ladders.games import first_repeat
from meijin.store.ladders.openings import add_rechecks
from meijin.store.rows import change_row, columns_of, read_row
from meijin.store.schema import (
    Bot,
    BotVersion,
    Fault,
    FaultKind,
    FaultParty,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    Tournament,
    TournamentId,
    TournamentState,
)

MAX_REASON = 200
"""Characters of why a game is void."""


@dataclass(frozen=True, slots=True)
class GameVoid:
    """A finished game to be voided."""

    id: GameId
    reason: str
    """One sentence for people."""
    time: datetime


def void_reason(text: str) -> str:
    """Why a game is to be void, as it is kept.

    Raises:
        ValueError: it says nothing, or too much.
    """
    reason = text.replace("\0", "").strip()
    if not reason:
        raise ValueError("say in a sentence why the game is void")
    if len(reason) > MAX_REASON:
        raise ValueError(f"it is longer than {MAX_REASON} characters")
    return reason


def void_game(connection: Connection, void: GameVoid) -> bool:
    """Void a finished game, with its effect everywhere; tell whether it was a finished game.

    Its result stays in the fault's evidence. Its pairing is to be played again, so that a
    finished tournament runs again, and the first of its repeats is rated in its stead.
    """
    sequenced = _hold_ladder(connection, void.id)
    game = _finished_game(connection, void.id)
    if game is None or game.end_sequence is None:
        return False
    is_rated = not game.is_repeat and game.end_sequence <= sequenced
    heir = first_repeat(connection, void.id) if is_rated else None
    if not _void(connection, void):
        return False
    add_faults(connection, [_fault(game, void)])
    _play_on(connection, game.tournament_id)
    _uncount(connection, game)
    if heir is not None:
        connection.execute(update(Game).where(Game.id == heir).values(is_repeat=False))
    if game.ladder_id is not None:
        _change_past(connection, game.ladder_id, more_games=(heir is not None) - is_rated)
        forget_tallies(connection, game.ladder_id, game.end_sequence)
    add_rechecks(connection, {void.id} if heir is None else {void.id, heir})
    return True


def _hold_ladder(connection: Connection, game_id: GameId) -> int:
    """Keep others from a game's ladder, and tell where its log ends; 0 for an unrated game's."""
    query = (
        select(Ladder.sequenced)
        .join(Game, Game.ladder_id == Ladder.id)
        .where(Game.id == game_id)
        .with_for_update(of=Ladder)
    )
    return connection.scalar(query) or 0


def _finished_game(connection: Connection, game_id: GameId) -> Game | None:
    """A finished game, without what the bots thought."""
    mine = (Game.id == game_id, Game.state == GameState.FINISHED)
    query = select(*columns_of(Game, analysis=null())).where(*mine)
    return read_row(Game, connection.execute(query))


def _void(connection: Connection, void: GameVoid) -> bool:
    change = update(Game).where(Game.id == void.id, Game.state == GameState.FINISHED)
    values = {
        "state": GameState.VOID,
        "result": Result.NONE,
        "ending": Ending.VOID,
        "at_fault": Party.OPERATOR,
        "detail": void.reason,
        "is_repeat": False,
    }
    return bool(connection.execute(change.values(values)).rowcount)


def _fault(game: Game, void: GameVoid) -> Fault:
    assert game.ending is not None
    evidence = VoidEvidence(void.reason, game.result, game.ending, game.at_fault, game.detail)
    return Fault(
        kind=FaultKind.VOIDED,
        party=FaultParty.OPERATOR,
        detail=void.reason,
        create_time=void.time,
        evidence=evidence.to_json(),
        game_id=void.id,
        ending=Ending.VOID,
        ply=len(game.moves) // 2,
    )


def _play_on(connection: Connection, tournament_id: TournamentId) -> None:
    """Count the game no more, and take a finished tournament up again; a cancelled one stays so."""
    change_row(connection, Tournament, tournament_id, finished=Tournament.finished - 1)
    change = update(Tournament).where(
        Tournament.id == tournament_id, Tournament.state == TournamentState.FINISHED
    )
    values = {"state": TournamentState.RUNNING, "end_time": None, "verdict": ""}
    connection.execute(change.values(values))


def _uncount(connection: Connection, game: Game) -> None:
    versions = BotVersion.id.in_((game.black_id, game.white_id))
    players = update(Bot).where(Bot.id.in_(select(BotVersion.bot_id).where(versions)))
    connection.execute(players.values(games=Bot.games - 1))


def _change_past(connection: Connection, ladder_id: LadderId, *, more_games: int) -> None:
    """Have a ladder's run and history computed anew.

    Voiding a repeat does so too: it was no rated game, but its run has counted it.
    """
    counts = {
        "revision": Ladder.revision + 1,
        "voided": Ladder.voided + 1,
        "games": Ladder.games + more_games,
    }
    change_row(connection, Ladder, ladder_id, **counts)
