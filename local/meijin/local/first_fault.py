"""The first game that a bot has forfeited, and why."""

from collections.abc import Iterable
from dataclasses import dataclass

from meijin.local.child import MOST_FRAMES
from meijin.local.connection import Connection
from meijin.v1 import fault_service_pb2, game_pb2
from meijin.wire.values import outcome_from_proto


@dataclass(frozen=True, slots=True)
class FirstFault:
    """How a bot forfeited a game."""

    bot: str
    game_id: str
    ply: int
    text: str
    """In a sentence."""
    traceback: str
    """What the bot said of where it happened; empty where it said nothing."""

    def lines(self) -> list[str]:
        head = f"first fault of {self.bot}: game {self.game_id}, ply {self.ply}: {self.text}"
        frames = self.traceback.splitlines()[-MOST_FRAMES:]
        return [head, *(f"  {line}" for line in frames)]


def culprit_of(game: game_pb2.Game) -> str:
    """The bot that has forfeited a game; empty where none has."""
    culprits = {game_pb2.PARTY_BLACK: game.black, game_pb2.PARTY_WHITE: game.white}
    is_finished = game.state == game_pb2.GAME_STATE_FINISHED
    return culprits.get(game.outcome.at_fault, "") if is_finished else ""


def first_faults(connection: Connection, games: Iterable[game_pb2.Game]) -> list[FirstFault]:
    """Of each bot that has forfeited one of the games the first, with what the fault ledger says.

    By the bots' names; which is the first the order of the games says.
    """
    found: dict[str, game_pb2.Game] = {}
    for game in games:
        if culprit := culprit_of(game):
            found.setdefault(culprit, game)
    return [_first_fault(connection, *each) for each in sorted(found.items())]


def _first_fault(connection: Connection, bot: str, game: game_pb2.Game) -> FirstFault:
    request = fault_service_pb2.ListFaultsRequest(game_id=game.game_id)
    faults = connection.ask(connection.faults.ListFaults, request).faults
    traceback = next((fault.traceback for fault in faults if fault.bot == bot), "")
    outcome = outcome_from_proto(game.outcome)
    text = ", ".join(filter(None, (outcome.ending.value, outcome.detail)))
    return FirstFault(bot, game.game_id, game.ply, text, traceback)
