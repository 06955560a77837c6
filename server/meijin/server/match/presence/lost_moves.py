"""Lost moves: games of which this server knows less than their players are void, by its fault."""

from zlib import crc32

import structlog

from meijin.game import Party, Seat, encode_moves
from meijin.server.match.games import Games
from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.witnesses import Verdict

log = structlog.get_logger()

LOST = "the server has lost moves that it had acknowledged"
"""Why a game is void that is short, or may be."""


class LostMoves(Listener):
    """Voids the games that would otherwise go back to an earlier position."""

    def __init__(self, games: Games) -> None:
        self._games = games

    def game_disputed(self, game: LiveGame) -> None:
        """Void a game whose moves are lost; one whose player is contradicted goes on."""
        assert game.witnesses is not None
        evidence = _evidence(game)
        if game.witnesses.verdict() is Verdict.DENIED:
            log.warning("a bot claims moves that its opponent denies", game=game.id, **evidence)
            return
        log.error(LOST, game=game.id, **evidence)
        game.arbiter.void(Party.SERVER, LOST)
        game.arbiter.add_evidence(**evidence)
        self._games.end(game)


def _evidence(game: LiveGame) -> dict[str, object]:
    """What the server has of a game, and what its players have told."""
    assert game.witnesses is not None
    moves = game.committed_moves
    told = {f"{game.color(seat).name.lower()}_knows": game.witnesses.words(seat) for seat in Seat}
    return {"server_knows": f"{len(moves)} stones, CRC {crc32(encode_moves(moves)):08x}", **told}
