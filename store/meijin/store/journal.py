"""The group commit: moves, starts and ends of games in one transaction."""

import struct
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Text,
    bindparam,
    cast,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from meijin.game import Ending, Party, Result, is_stone
from meijin.store.access.audit import Act, add_act
from meijin.store.faults import add_faults, fault_of_game
from meijin.store.fence import NO_ENTRY, NO_EPOCH, SELECT_NEWEST, EntryKey
from meijin.store.ladders.games import opening_key, settled_opening
from meijin.store.ladders.ladders import settle
from meijin.store.prepared import Prepared
from meijin.store.rows import values_of
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    EntryId,
    Epoch,
    Fault,
    Game,
    GameId,
    GameState,
    JournalRow,
    Tournament,
    TournamentId,
)
from meijin.store.tournaments import TournamentEnd, finish_tournament, settled_ladder
from meijin.store.voids import GameVoid, void_game

_MOVE = struct.Struct("<QHHQQ")
"""One move: game, ply, code, raw and charged nanoseconds."""

MOVE_BYTES = _MOVE.size
"""Of one move in the journal."""

ANEW = 0xFFFD
"""In place of a code: the game's moves follow from the first on, and those before count no more."""

ENTRY_BYTES = 100
"""Of an entry's row beside its moves, about: its key is stored twice."""

ENTRIES_READ_TOGETHER = 64
"""Kept entries that are told of as one."""

pack_move = _MOVE.pack
"""The bytes of a move, from the fields of `StoredMove`; nothing between, for every move passes."""

unpack_fields = _MOVE.iter_unpack
"""The fields of `StoredMove` of each move of an entry: a start reads a million."""


def pack_anew(game_id: GameId) -> bytes:
    """The mark that all moves of a game follow: what is kept of those before it counts no more."""
    return _MOVE.pack(game_id, 0, ANEW, 0, 0)


def pack_game(
    game_id: GameId, moves: Iterable[tuple[int, int, int]], *, opening_plies: int
) -> bytearray:
    """A game written anew: the mark, and the code and the times of all moves after its opening."""
    packed, ply = bytearray(pack_anew(game_id)), opening_plies
    for code, raw_ns, charged_ns in moves:
        packed += pack_move(game_id, ply, code, raw_ns, charged_ns)
        ply += is_stone(code)
    return packed


class StoredMove(NamedTuple):
    """One move of a running game."""

    game_id: GameId
    ply: int
    code: int
    """Its cell; or one of those that `encode_action` makes of a decision at this ply."""
    raw_ns: int
    charged_ns: int

    @property
    def is_anew(self) -> bool:
        """Whether it is none, but what `pack_anew` makes."""
        return self.code == ANEW


@dataclass(frozen=True, slots=True)
class GameEnd:
    """A game that ends: with a result, or void to be played again.

    What its row is changed to has the names of the columns.
    """

    id: GameId
    tournament_id: TournamentId
    end_sequence: int
    end_time: datetime
    moves: bytes
    times: bytes
    analysis: dict[str, Any] | None
    result: Result
    ending: Ending
    at_fault: Party
    detail: str
    fault_version_id: BotVersionId | None
    """Of the bot that the game's fault concerns; ``None`` when it was no bot."""
    evidence: dict[str, Any]
    """Empty for an ending on the board."""
    fingerprint: int
    symmetric_fingerprint: int | None = None
    """``None`` where it can't be a repeat."""
    decisions: bytes | None = None
    """Those of its opening; ``None`` where there were none."""
    is_swapped: bool = False
    """The first player, who is stored as black since the start, has white."""
    bots: tuple[BotId, ...] = ()
    """Who has played it."""


@dataclass(frozen=True, slots=True)
class KeptEntries:
    """Entries that follow one another."""

    end: EntryKey
    """The first key after them."""
    entries: int
    bytes: int
    """About this many."""


@dataclass(slots=True)
class JournalEntry:
    """What is committed together."""

    id: EntryId
    truncate_before: EntryKey | None = None
    """Entries before this one hold no move of a running game that isn't in a later one, and are
    deleted; ``None`` for none."""
    moves: bytearray = field(default_factory=bytearray)
    """What `pack_move` makes of each, one after another."""
    analysis: dict[str, Any] = field(default_factory=dict)
    """By game and ply, what the bots said they thought."""
    starts: list[Game] = field(default_factory=list)
    ends: list[GameEnd] = field(default_factory=list)
    incidents: list[Fault] = field(default_factory=list)
    """What went wrong in games that went on."""
    finished_tournaments: list[TournamentEnd] = field(default_factory=list)
    voids: list[GameVoid] = field(default_factory=list)
    """Finished games that are to count no more."""
    acts: list[Act] = field(default_factory=list)
    """Of operators, about games that end or are void by them."""
    epoch: Epoch = NO_EPOCH
    """Of the claim of the server that writes it."""

    def add_analysis(self, game_id: GameId, ply: int, analysis: dict[str, Any]) -> None:
        self.analysis.setdefault(str(game_id), {})[str(ply)] = analysis

    @property
    def key(self) -> EntryKey:
        return EntryKey(self.epoch, self.id)

    @property
    def is_empty(self) -> bool:
        ends = self.ends or self.finished_tournaments or self.voids
        return not (self.moves or self.starts or ends or self.incidents)


class LostUpdateError(Exception):
    """A game that ends was not running, or one that is voided not finished."""


def commit_entry(connection: Connection, entry: JournalEntry, *, is_retry: bool = False) -> None:
    """Write an entry.

    A retry looks whether the entry is there already: the commit may have happened and
    its answer been lost.

    Raises:
        LostUpdateError: another server wrote to these games.
    """
    key = {"of_epoch": entry.epoch, "of_id": entry.id}
    if is_retry and connection.scalar(_FIND_JOURNAL, key) is not None:
        return
    row = {
        "epoch": entry.epoch,
        "id": entry.id,
        "moves": bytes(entry.moves),
        "analysis": entry.analysis or None,
    }
    _INSERT_JOURNAL.execute(connection, [row])
    if entry.starts:
        _INSERT_GAME.execute(connection, [_start_row(start) for start in entry.starts])
    if entry.ends:
        _end_games(connection, entry.ends)
    if entry.incidents:
        add_faults(connection, entry.incidents)
    if entry.starts or entry.ends:
        _count_games(connection, entry)
    if entry.truncate_before is not None:
        epoch, end = entry.truncate_before
        connection.execute(_DELETE_ENTRIES, {"of_epoch": epoch, "of_id": end})
    for tournament in entry.finished_tournaments:
        finish_tournament(connection, tournament)
        ladder_id = settled_ladder(connection, tournament.id)
        if ladder_id is not None:
            settle(connection, tournament.id, ladder_id)
    _void_games(connection, entry)


def _void_games(connection: Connection, entry: JournalEntry) -> None:
    for void in entry.voids:
        if not void_game(connection, void):
            raise LostUpdateError(f"game {void.id} was not finished, and can't be voided")
    for act in entry.acts:
        add_act(connection, act)


def _start_row(start: Game) -> dict[str, Any]:
    row = values_of(start) | {"black_version": start.black_id, "white_version": start.white_id}
    return {name: value for name, value in row.items() if name not in _OF_VERSION}


def _end_games(connection: Connection, ends: list[GameEnd]) -> None:
    changed = _END_GAME.execute(connection, [_end_row(end) for end in ends])
    if changed != len(ends):
        raise LostUpdateError(f"only {changed} of {len(ends)} ended games were running")
    if swapped := [{"key": end.id, "swapped": True} for end in ends if end.is_swapped]:
        _SWAP_PLAYERS.execute(connection, swapped)
    if settled := [_settled_row(end) for end in ends if end.decisions is not None]:
        _SETTLE_OPENING.execute(connection, settled)
    add_faults(connection, filter(None, map(_fault, ends)))


def _count_games(connection: Connection, entry: JournalEntry) -> None:
    """Have tournaments and bots count their games that have begun and ended."""
    running, finished = Counter[TournamentId](), Counter[TournamentId]()
    running.update(start.tournament_id for start in entry.starts)
    running.subtract(end.tournament_id for end in entry.ends)
    finished.update(end.tournament_id for end in entry.ends if end.ending is not Ending.VOID)
    rows = [
        {"key": key, "more_running": more, "more_finished": finished[key]}
        for key, more in sorted(running.items())
        if more or finished[key]
    ]
    if rows:
        _COUNT_GAMES.execute(connection, rows)
    played = Counter(
        bot_id for end in entry.ends if end.ending is not Ending.VOID for bot_id in end.bots
    )
    if played:
        counts = [{"key": key, "more": more} for key, more in sorted(played.items())]
        _COUNT_GAMES_OF_BOT.execute(connection, counts)


def _end_row(end: GameEnd) -> dict[str, object]:
    new_state = GameState.VOID if end.ending is Ending.VOID else GameState.FINISHED
    keys = {"key": end.id, "old_state": GameState.RUNNING, "new_state": new_state}
    return keys | {name: getattr(end, name) for name in _ENDED}


def _settled_row(end: GameEnd) -> dict[str, object]:
    opening = settled_opening(end.moves, 0, end.decisions)
    return {"key": end.id, "settled": opening_key(opening)}


def _fault(end: GameEnd) -> Fault | None:
    """The fault that a game ended by, if it was one."""
    found = fault_of_game(end.ending, end.at_fault)
    if found is None:
        return None
    kind, party = found
    return Fault(
        kind=kind,
        party=party,
        detail=end.detail,
        create_time=end.end_time,
        evidence=end.evidence,
        game_id=end.id,
        ending=end.ending,
        ply=len(end.moves) // 2,
        version_id=end.fault_version_id,
    )


def size_of_entry(entry: JournalEntry) -> int:
    """The bytes of an entry without what the bots said, more or less."""
    return ENTRY_BYTES + len(entry.moves)


def kept_moves(connection: Connection) -> Iterator[bytes]:
    """The committed moves of running games in the order they were made, those of an entry together.

    Moves of games that have ended since are among them, and marks of those that were written anew.
    """
    query = select(_JOURNAL.c.moves).order_by(*_KEY)
    return (moves for (moves,) in connection.execute(query))


def unpack_moves(moves: bytes | bytearray) -> Iterator[StoredMove]:
    return map(StoredMove._make, unpack_fields(moves))


def running_analysis(connection: Connection, games: Collection[GameId]) -> dict[str, Any]:
    """What the bots said they thought about the moves of `kept_moves` in some games."""
    query = select(_JOURNAL.c.analysis).order_by(*_KEY)
    return merge_analysis((said for (said,) in connection.execute(query)), games)


def merge_analysis(
    entries: Iterable[dict[str, Any] | None], games: Collection[GameId]
) -> dict[str, Any]:
    """What is said of some games in entries that follow one another; of others it is left out."""
    merged: dict[str, Any] = {str(game_id): {} for game_id in games}
    for analysis in entries:
        for game, by_ply in (analysis or {}).items():
            if game in merged:
                merged[game].update(by_ply)
    return {game: by_ply for game, by_ply in merged.items() if by_ply}


def kept_entries(connection: Connection) -> Sequence[KeptEntries]:
    """All entries in their order, some of them together."""
    said = func.coalesce(func.length(cast(_JOURNAL.c.analysis, Text)), 0)
    size = func.length(_JOURNAL.c.moves) + said + ENTRY_BYTES
    rows = connection.execute(select(*_KEY, size).order_by(*_KEY))
    return tuple(
        KeptEntries(
            end=EntryKey(rows[-1][0], EntryId(rows[-1][1] + 1)),
            entries=len(rows),
            bytes=sum(size for *_, size in rows),
        )
        for rows in rows.partitions(ENTRIES_READ_TOGETHER)
    )


def newest_entry(connection: Connection) -> EntryKey:
    """The newest entry's key; that of none where there is none."""
    return EntryKey(*(connection.exec_driver_sql(SELECT_NEWEST).first() or NO_ENTRY))


_JOURNAL = JournalRow.__table__
_GAME = Game.__table__
_BOT = Bot.__table__
_VERSION = BotVersion.__table__
_TOURNAMENT = Tournament.__table__
_KEY = (_JOURNAL.c.epoch, _JOURNAL.c.id)
_GIVEN_KEY = tuple_(bindparam("of_epoch"), bindparam("of_id"))

_FIND_JOURNAL = select(_JOURNAL.c.id).where(tuple_(*_KEY) == _GIVEN_KEY)
_INSERT_JOURNAL = Prepared(insert(_JOURNAL))
_DELETE_ENTRIES = delete(_JOURNAL).where(tuple_(*_KEY) < _GIVEN_KEY)
"""Those of earlier owners too, and never those of a later one, which this one has not read."""
SIDES = ("black", "white")
_MACHINE = ("hardware", "threads", "memory_bytes")
"""What a game keeps of what the versions of its sides say of where they run."""
_OF_VERSION = frozenset(f"{side}_{name}" for side in SIDES for name in _MACHINE)
_INSERT_GAME = Prepared(
    insert(_GAME).values(
        {
            f"{side}_{name}": select(_VERSION.c[name])
            .where(_VERSION.c.id == bindparam(f"{side}_version"))
            .scalar_subquery()
            for side in SIDES
            for name in _MACHINE
        }
    )
)
_ENDED = tuple(
    each.name
    for each in fields(GameEnd)
    if each.name in _GAME.c and each.name not in {"id", "tournament_id", "is_swapped"}
)
"""What an end changes of a game's row, beside its state and its players."""
_END_GAME = Prepared(
    update(_GAME)
    .where(_GAME.c.id == bindparam("key"), _GAME.c.state == bindparam("old_state"))
    .values(state=bindparam("new_state"))
)
_SWAP_PLAYERS = Prepared(
    update(_GAME)
    .where(_GAME.c.id == bindparam("key"))
    .values(
        black_id=_GAME.c.white_id,
        white_id=_GAME.c.black_id,
        is_swapped=bindparam("swapped"),
        **{
            f"{side}_{name}": _GAME.c[f"{other}_{name}"]
            for side, other in (SIDES, SIDES[::-1])
            for name in _MACHINE
        },
    )
)
_SETTLE_OPENING = Prepared(
    update(_GAME).where(_GAME.c.id == bindparam("key")).values(opening=bindparam("settled"))
)
_COUNT_GAMES = Prepared(
    update(_TOURNAMENT)
    .where(_TOURNAMENT.c.id == bindparam("key"))
    .values(
        running=_TOURNAMENT.c.running + bindparam("more_running"),
        finished=_TOURNAMENT.c.finished + bindparam("more_finished"),
    )
)
_COUNT_GAMES_OF_BOT = Prepared(
    update(_BOT).where(_BOT.c.id == bindparam("key")).values(games=_BOT.c.games + bindparam("more"))
)
