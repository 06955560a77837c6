"""Ladders with made-up games."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, update

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
from meijin.store.access.versions import EngineRow, arrive
from meijin.store.bots import add_bot
from meijin.store.ladders import ladders
from meijin.store.ladders.games import fingerprint, finished_games, opening_key
from meijin.store.ladders.runs import Standings, standings
from meijin.store.ladders.sequencer import keep_portion, next_portion
from meijin.store.ladders.versions import parents_of
from meijin.store.rows import add_row, add_rows
from meijin.store.schema import (
    BotId,
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
)
from meijin.store.voids import GameVoid, void_game

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONTROL = TimeControl.parse("1")
BLACK, WHITE, DRAW = RESULTS = (Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW)

MadeUp = tuple[int, int, Result]
"""Black's and white's numbers in the league, and the result."""


def sequence_in(connection: Connection, ladder_id: LadderId) -> None:
    """Take what has ended into a ladder's log, in a transaction that has begun."""
    while portion := next_portion(connection, ladder_id):
        keep_portion(connection, portion)


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
        number = len(self.bots)

        def add(connection: Connection) -> tuple[BotId, BotVersionId]:
            bot_id = add_bot(connection, f"{self.name}-bot-{number}", NOON)
            return bot_id, arrive(connection, bot_id, EngineRow("1.0", "1.0"), NOON).version.id

        bot_id, version_id = self.database.write(add)
        self.bots.append(bot_id)
        self.versions.append(version_id)
        return number

    def renew(self, number: int, label: str) -> BotVersionId:
        """Give a bot a new version, which plays its games from now on."""
        engine = EngineRow(label, label)
        version = self.database.write(arrive, self.bots[number], engine, NOON).version.id
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
        how: dict[str, Any] = {"line": line, "opening_plies": opening_plies, "day": day}
        rows = [self._row(game, is_forfeit=forfeit, **how) for game in games]
        self.database.write(self._finish, rows)

    def finish_random(self, games: int, seed: int = 1, *, lines: int = 0, day: int = 0) -> None:
        """Finish this many games of random bots with random results.

        Args:
            lines: From this many lines of moves, one is drawn for each; 0 makes no two alike.
            day: How many days after `NOON` they end.
        """
        rng = random.Random(seed)
        pairs = (rng.sample(range(len(self.bots)), 2) for _ in range(games))
        drawn = [(black, white, rng.choice(RESULTS)) for black, white in pairs]
        rows = [
            self._row(game, line=(rng.randrange(lines),) if lines else None, day=day)
            for game in drawn
        ]
        self.database.write(self._finish, rows)

    def void(self, number: int) -> None:
        """Void the finished game of this number; the first is 1."""
        void = GameVoid(self._key(number), "a test", NOON)
        assert self.database.write(void_game, void)

    def change_game(self, number: int, **values: Any) -> None:
        change = update(Game).where(Game.id == self._key(number)).values(**values)
        self.database.write(lambda connection: connection.execute(change))

    def set_anchors(self, *numbers: int) -> None:
        """Make these bots' versions the ladder's anchors."""
        keys = [self.versions[number] for number in numbers]
        self.database.write(ladders.set_anchors, self.ladder_id, keys)

    def add_unrated(self, state: GameState) -> None:
        """Add a game that doesn't count: running, or void."""
        row = self._row((0, 1, Result.NONE))
        self.database.write(self._add, [replace(row, state=state)])

    def snapshot(self) -> Snapshot:
        """The league's games now, all read and added up, whatever is kept."""

        def read(connection: Connection) -> Snapshot:
            anchors = ladders.anchors(connection, self.ladder_id)
            ladder = ladders.ladder_row(connection, self.ladder_id)
            tally = Tally.of(finished_games(connection, self.ladder_id, after=0))
            return Snapshot.of(ladder, tally, anchors, parents_of(connection, tally.versions))

        return self.database.read(read)

    def standings(self) -> Standings:
        return self.database.read(standings, self.ladder_id)

    def _set_up(self, connection: Connection) -> LadderId:
        time_class = TIME_CLASSES.of(CONTROL)
        ladder = Ladder(name=self.name, variant=GOMOKU, time_class=time_class)
        ladder_id = add_row(connection, ladder).id
        tournament = Tournament(
            name=self.name,
            format=FormatName("round-robin"),
            variant=GOMOKU,
            time_control=CONTROL,
            ladder_id=ladder_id,
            create_time=NOON,
        )
        self._tournament_id = add_row(connection, tournament).id
        self._host = add_bot(connection, f"{self.name}-host", NOON)
        return ladder_id

    def _finish(self, connection: Connection, rows: list[Game]) -> None:
        self._add(connection, rows)
        if self.are_games_sequenced:
            sequence_in(connection, self.ladder_id)

    def _add(self, connection: Connection, rows: list[Game]) -> None:
        pairings = [
            Pairing(
                id=row.pairing_id,
                tournament_id=self._tournament_id,
                number=row.end_sequence or 0,
                round=1,
                black_id=self._host,
                white_id=self._host,
                opening=b"",
            )
            for row in rows
        ]
        add_rows(connection, pairings)
        add_rows(connection, rows)

    def _key(self, number: int) -> GameId:
        return GameId(self.ladder_id * 1_000_000 + number)

    def _row(
        self,
        game: MadeUp,
        *,
        line: Sequence[int] | None = None,
        opening_plies: int = 0,
        day: int = 0,
        is_forfeit: bool = False,
    ) -> Game:
        black, white, result = game
        self._games += 1
        key = self._key(self._games)
        moves = encode_moves(_distinct(self._games) if line is None else line)
        players = self.versions[black], self.versions[white]
        loser = Party.BLACK if result is Result.WHITE_WINS else Party.WHITE
        return Game(
            id=key,
            pairing_id=PairingId(key),
            tournament_id=self._tournament_id,
            ladder_id=self.ladder_id,
            black_id=players[0],
            white_id=players[1],
            opening_plies=opening_plies,
            opening=opening_key(moves[: 2 * opening_plies]),
            moves=moves,
            start_time=NOON,
            state=GameState.FINISHED,
            result=result,
            ending=Ending.TIME if is_forfeit else Ending.FIVE,
            at_fault=loser if is_forfeit else Party.NOBODY,
            end_sequence=self._games,
            end_time=NOON + timedelta(days=day),
            fingerprint=fingerprint(*players, opening_plies, moves),
        )


def _distinct(number: int) -> tuple[int, ...]:
    """Four cells of a board of 15x15, others for each of ten million numbers."""
    return tuple(56 * place + number // 56**place % 56 for place in range(4))
