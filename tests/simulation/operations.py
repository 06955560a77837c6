"""The operator: has tournaments made, and takes up again what was cancelled."""

from __future__ import annotations

from tests.simulation.scene import Scene
from tests.simulation.server import SimulatedServer

from meijin.v1 import tournament_service_pb2 as pb

MS = 1_000_000


class Operator:
    """Asks the server for what is wanted until it is there."""

    def __init__(self, scene: Scene) -> None:
        self.wanted: list[pb.TournamentSettings] = []
        self.made: set[int] = set()
        """The places of those that the server has made, as it said."""
        self._refused: set[str] = set()
        """Those whose resumption was refused: it may have happened, and its answer been lost."""
        self._scene = scene

    def operate(self) -> None:
        """Have made what is not made yet, and take up what was cancelled, again and again."""
        scene = self._scene
        if not scene.is_closing:
            scene.later(50 * MS, self.operate)
        server = scene.server
        if server is None or not server.is_up or server.process.is_held:
            return
        for number, wanted in enumerate(self.wanted):
            if number not in self.made:
                if len(self._known_bots()) < len(scene.bots):
                    return
                request = pb.CreateTournamentRequest(settings=wanted, request_id=str(number))

                def made(error: str, number: int = number) -> None:
                    if not error:
                        self.made.add(number)
                    scene.note("tournament", number, "made", error)

                server.call("CreateTournament", request, made)
                return
        self._resume_cancelled(server)

    def _resume_cancelled(self, server: SimulatedServer) -> None:
        scene = self._scene
        refused, self._refused = self._refused, set()
        for tournament in sorted({*scene.tournaments("cancelled"), *refused}):

            def resumed(error: str, tournament: str = tournament) -> None:
                if "try again" in error:
                    self._refused.add(tournament)
                scene.note("tournament", tournament, "resumed", error)

            resume = pb.UpdateTournamentRequest(
                tournament_id=tournament, state=pb.TOURNAMENT_STATE_RUNNING
            )
            server.call("UpdateTournament", resume, resumed)

    def _known_bots(self) -> list[str]:
        return [name for (name,) in self._scene.disk.reader.execute("SELECT name FROM bot")]
