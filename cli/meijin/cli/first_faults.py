"""The first fault of each bot in a match: its words, and where it happened."""

from collections.abc import Iterator
from dataclasses import dataclass

from meijin.arena.child import MOST_FRAMES
from meijin.cli.connection import Connection
from meijin.cli.follow import culprit_of
from meijin.v1 import fault_service_pb2, game_pb2
from meijin.wire import outcome_from_proto


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
        """It in words, with the last lines of its traceback."""
        head = f"first fault of {self.bot}: game {self.game_id}, ply {self.ply}: {self.text}"
        frames = self.traceback.splitlines()[-MOST_FRAMES:]
        return [head, *(f"  {line}" for line in frames)]


class FirstFaults:
    """Notes the first game that each bot forfeits."""

    def __init__(self) -> None:
        self._games: dict[str, game_pb2.Game] = {}

    def hear(self, game: game_pb2.Game) -> None:
        """Note a game that has ended."""
        culprit = culprit_of(game)
        if culprit:
            self._games.setdefault(culprit, game)

    def find(self, connection: Connection) -> list[FirstFault]:
        """The first faults, by bot, with what the fault ledger has of them."""
        return list(self._found(connection))

    def _found(self, connection: Connection) -> Iterator[FirstFault]:
        for bot, game in sorted(self._games.items()):
            request = fault_service_pb2.ListFaultsRequest(game_id=game.game_id)
            faults = connection.ask(connection.faults.ListFaults, request).faults
            traceback = next((fault.traceback for fault in faults if fault.bot == bot), "")
            outcome = outcome_from_proto(game.outcome)
            text = (
                f"{outcome.ending.value}, {outcome.detail}"
                if outcome.detail
                else outcome.ending.value
            )
            yield FirstFault(bot, game.game_id, game.ply, text, traceback)
