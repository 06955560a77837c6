"""Ladders with made-up games."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert, update

from meijin.game import (
    GOMOKU,
    TIME_CLASSES,
    Ending,
    Party,
    Result,
    TimeControl,
    encode_moves,
)
from meijin.ladder.tally import Snapshot, Tally
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.lineage import parents_of
from meijin.store.ladders.log import finished_games
from meijin.store.ladders.opening_keys import opening_key
from meijin.store.ladders.repeats import fingerprint
from meijin.store.ladders.runs import Standings, standings
from meijin.store.ladders.sequencer import sequence_in
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    FormatName,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    Pairing,
    PairingId,
    Tournament,
    TournamentId,
    TournamentState,
)
from meijin.store.voids import GameVoid, void_game

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONTROL = TimeControl.parse("1")
RESULTS = (Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW)

MadeUp = tuple[int, int, Result]
"""Black's and white's numbers in the league, and the result."""


class League:
    """A ladder whose games are made up, with bots of one version each until they are renewed."""

    def __init__(self, database: Database, *, bots: int = 5, name: str = "freestyle-15x15") -> None:
        self.database = database
        self.name = name
        self.bots: list[BotId] = []
        self.versions: list[BotVersionId] = []
        self._games = 0
        self.are_games_sequenced = True
        """Games get into the ladder's log as they finish: by its job else, as those of a server."""
        self.ladder_id = database.write(self._set_up)
        for _ in range(bots):
            self.add_bot()

    def add_bot(self) -> int:
        """Add a bot; return its number in the league."""
        number = len(self.bots)

        def add(connection: Connection) -> tuple[BotId, BotVersionId]:
            name = f"{self.name}-bot-{number}"
            bot = insert(Bot).values(name=name, create_time=NOON, is_open=False)
            bot_id = connection.execute(bot.returning(Bot.id)).scalar_one()
            return bot_id, _add_version(connection, bot_id, "1.0")

        bot_id, version_id = self.database.write(add)
        self.bots.append(bot_id)
        self.versions.append(version_id)
        return number

    def renew(self, number: int, label: str) -> BotVersionId:
        """Give a bot a new version, which plays its games from now on."""
        bot_id, parent = self.bots[number], self.versions[number]
        version = self.database.write(
            lambda connection: _add_version(connection, bot_id, label, parent)
        )
        self.versions[number] = version
        return version

    def finish(
        self,
        *games: MadeUp,
        line: Sequence[int] | None = None,
        opening_plies: int = 0,
        day: int = 0,
        forfeit: bool = False,
    ) -> None:
        """Finish games in one transaction.

        Args:
            line: The moves of each, so that they repeat each other; else no two are alike.
            day: How many days after `NOON` they end.
        """
        rows = [self._row(game) for game in games]
        for row in rows:
            row["opening_plies"] = opening_plies
            row["end_time"] = NOON + timedelta(days=day)
            if line is not None:
                row["moves"] = encode_moves(line)
            row["opening"] = opening_key(row["moves"][: 2 * opening_plies])
            if forfeit:
                is_black = row["result"] is Result.WHITE_WINS
                row["ending"] = Ending.TIME
                row["at_fault"] = Party.BLACK if is_black else Party.WHITE
        self.database.write(lambda connection: self._finish(connection, rows))

    def finish_random(self, games: int, seed: int = 1, *, lines: int = 0, day: int = 0) -> None:
        """Finish so many games of random bots with random results.

        Args:
            lines: From so many lines of moves, one is drawn for each; 0 makes no two alike.
            day: How many days after `NOON` they end.
        """
        rng = random.Random(seed)
        rows = []
        for _ in range(games):
            black, white = rng.sample(range(len(self.bots)), 2)
            rows.append(self._row((black, white, rng.choice(RESULTS))))
        for row in rows:
            row["end_time"] = NOON + timedelta(days=day)
            if lines:
                row["moves"] = encode_moves((rng.randrange(lines),))
        self.database.write(lambda connection: self._finish(connection, rows))

    def void(self, number: int) -> None:
        """Void the finished game of this number; the first is 1."""
        void = GameVoid(self._key(number), "a test", NOON)
        assert self.database.write(lambda connection: void_game(connection, void))

    def change_game(self, number: int, **values: Any) -> None:
        """Tamper with the row of the game of this number."""
        change = update(Game).where(Game.id == self._key(number)).values(**values)
        self.database.write(lambda connection: connection.execute(change))

    def set_anchors(self, *numbers: int) -> None:
        """Make these bots' versions the ladder's anchors."""
        keys = [self.versions[number] for number in numbers]
        self.database.write(
            lambda connection: ladders.set_anchors(connection, self.ladder_id, keys)
        )

    def add_unrated(self, state: GameState) -> None:
        """Add a game that doesn't count: running, or void."""
        row = self._row((0, 1, Result.NONE)) | {"state": state}
        self.database.write(lambda connection: self._add(connection, [row]))

    def snapshot(self) -> Snapshot:
        """The league's games now, all read and added up, whatever is kept."""

        def read(connection: Connection) -> Snapshot:
            anchors = ladders.anchors(connection, self.ladder_id)
            ladder = ladders.ladder_row(connection, self.ladder_id)
            tally = Tally.of(finished_games(connection, self.ladder_id, after=0))
            return Snapshot.of(ladder, tally, anchors, parents_of(connection, tally.versions))

        return self.database.read(read)

    def standings(self) -> Standings:
        """What is published of the league."""
        return self.database.read(lambda connection: standings(connection, self.ladder_id))

    def _set_up(self, connection: Connection) -> LadderId:
        kind = {"variant": GOMOKU, "time_class": TIME_CLASSES.of(CONTROL)}
        counts = dict.fromkeys(("revision", "run_revision", "voided", "games"), 0)
        row = insert(Ladder).values(name=self.name, **kind, **counts)
        ladder_id = connection.execute(row.returning(Ladder.id)).scalar_one()
        tournament = insert(Tournament).values(
            name=self.name,
            format=FormatName("round-robin"),
            rounds=1,
            seed=1,
            variant=GOMOKU,
            time_control=CONTROL,
            max_games=0,
            ladder_id=ladder_id,
            create_time=NOON,
            state=TournamentState.RUNNING,
            openings=b"",
            verdict="",
        )
        self._tournament_id: TournamentId = connection.execute(
            tournament.returning(Tournament.id)
        ).scalar_one()
        bot = insert(Bot).values(name=f"{self.name}-host", create_time=NOON, is_open=False)
        self._host = connection.execute(bot.returning(Bot.id)).scalar_one()
        return ladder_id

    def _finish(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        self._add(connection, rows)
        if self.are_games_sequenced:
            sequence_in(connection, self.ladder_id)

    def _add(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            parts = (row["black_id"], row["white_id"], row["opening_plies"], row["moves"])
            row["fingerprint"] = fingerprint(*parts)
        pairings = [
            {
                "id": row["pairing_id"],
                "tournament_id": self._tournament_id,
                "number": row["end_sequence"],
                "round": 1,
                "black_id": self._host,
                "white_id": self._host,
                "opening": b"",
                "reason": "",
            }
            for row in rows
        ]
        connection.execute(insert(Pairing), pairings)
        connection.execute(insert(Game), rows)

    def _key(self, number: int) -> GameId:
        return GameId(self.ladder_id * 1_000_000 + number)

    def _row(self, game: MadeUp) -> dict[str, Any]:
        black, white, result = game
        self._games += 1
        key = self._key(self._games)
        return {
            "id": key,
            "pairing_id": PairingId(key),
            "tournament_id": self._tournament_id,
            "ladder_id": self.ladder_id,
            "black_id": self.versions[black],
            "white_id": self.versions[white],
            "opening_plies": 0,
            "opening": opening_key(b""),
            "moves": encode_moves((*divmod(self._games, 1000), 0)),
            "times": b"",
            "start_time": NOON,
            "state": GameState.FINISHED,
            "result": result,
            "ending": Ending.FIVE,
            "at_fault": Party.NOBODY,
            "detail": "",
            "end_sequence": self._games,
            "end_time": NOON,
            "is_repeat": False,
        }


def _add_version(
    connection: Connection, bot_id: BotId, label: str, parent: BotVersionId | None = None
) -> BotVersionId:
    version = insert(BotVersion).values(
        bot_id=bot_id,
        digest=label,
        label=label,
        configuration=[],
        create_time=NOON,
        parent_id=parent,
    )
    return connection.execute(version.returning(BotVersion.id)).scalar_one()
