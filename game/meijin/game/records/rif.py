"""RIF, the XML database that RenjuNet publishes its games in: read, and never written.

Under ``<database>`` stand ``<players>`` with a ``<player id name surname>`` each, ``<tournaments>``,
``<rules>``, and ``<games>`` with a ``<game id rule tournament black white bresult>`` each, of which
``<move>`` holds the position string. `bresult` is what black scored: 1, 0.5 or 0.

A file may be of any size: it is parsed as it comes in, and no more than a game is kept. Document
types, and with them entities, are refused: they let a short file ask for any amount of memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from meijin.game.board.board import Board
from meijin.game.color import Color
from meijin.game.outcome import Outcome
from meijin.game.records.record import (
    GameRecord,
    finished_outcome,
    imported_outcome,
    parse_position,
)
from meijin.game.rules.renju import RENJU
from meijin.game.rules.variant import Variant

RIF_VARIANT = Variant(RENJU)
"""What the games are of."""

MAX_DEPTH = 16
MAX_NAMES = 200_000
"""Players and tournaments of a file; RenjuNet has some thousand."""
MAX_NAME = 200
"""Characters of a name that are kept."""
MAX_TOKEN = 1 << 20
"""Bytes of a tag: the parser begins a longer one again with every chunk."""
MAX_MOVE_TEXT = 4096
"""Characters of a game's moves: those of the largest board take 1452."""

_WINNERS = {"1": Color.BLACK, "0": Color.WHITE, "0.5": None}


class RifError(ValueError):
    """A file that is no RIF database."""


@dataclass(frozen=True, slots=True)
class RifGame:
    """One game of a database, as it stands there."""

    game_id: str
    black: str
    white: str
    event: str
    result: str
    """The value of `bresult`; empty where there is none."""
    moves: str

    def record(self, variant: Variant = RIF_VARIANT) -> GameRecord:
        """The game as a record.

        Raises:
            ValueError: its moves are no legal game.
        """
        cells = parse_position(self.moves, variant)
        board = Board.from_moves(cells, variant)
        if self.result in _WINNERS:
            outcome: Outcome | None = imported_outcome(_WINNERS[self.result], board)
        else:
            outcome = finished_outcome(board)
        return GameRecord(
            variant=variant,
            black=self.black,
            white=self.white,
            moves=cells,
            outcome=outcome,
            event=self.event,
            game_id=self.game_id,
        )


def read_rif(chunks: Iterable[bytes]) -> Iterator[RifGame]:
    """The games of a database, one after another, from its bytes.

    Raises:
        RifError: it is no such file; games before the place have been given out.
    """
    reader = _Reader()
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.feed(b"", is_last=True)
    if not reader.has_games:
        raise RifError("there is no <games> under <database>")


@dataclass(slots=True)
class _Reader:
    """What was read so far."""

    path: list[str] = field(default_factory=list)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    """Of players and tournaments, by kind and id."""
    game: dict[str, str] | None = None
    """The attributes of the game that is being read."""
    moves: list[str] = field(default_factory=list)
    length: int = 0
    ready: list[RifGame] = field(default_factory=list)
    has_games: bool = False
    fed: int = 0
    """Bytes."""
    parser: expat.XMLParserType = field(init=False)

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, data: bytes, *, is_last: bool = False) -> Iterator[RifGame]:
        """Read on, and give out the games that ended, those before an error too."""
        self.fed += len(data)
        failure: RifError | None = None
        try:
            self.parser.Parse(data, is_last)
        except RifError as error:
            failure = error
        except expat.ExpatError as error:
            failure = RifError(f"line {error.lineno}: {expat.ErrorString(error.code)}")
        games, self.ready = self.ready, []
        yield from games
        if failure is not None:
            raise failure
        if self.fed - self.parser.CurrentByteIndex > len(data) + MAX_TOKEN:
            raise RifError(f"line {self.parser.CurrentLineNumber}: a tag is too long")

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise RifError("a file with a document type is refused; remove its <!DOCTYPE")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name)
        if len(self.path) > MAX_DEPTH:
            raise RifError(f"line {self.parser.CurrentLineNumber}: elements are nested too deeply")
        if len(self.path) == 1 and name != "database":
            raise RifError(f"it begins with <{name[:MAX_NAME]}> instead of <database>")
        if name == "games":
            self.has_games = True
        elif name in {"player", "tournament"}:
            self._name(name, attributes)
        elif name == "game":
            self.game = {key: value[:MAX_NAME] for key, value in attributes.items()}
            self.moves, self.length = [], 0

    def _name(self, kind: str, attributes: dict[str, str]) -> None:
        if len(self.names) == MAX_NAMES:
            raise RifError(f"there are more than {MAX_NAMES} players and tournaments")
        words = (attributes.get("name", ""), attributes.get("surname", ""))
        name = " ".join(" ".join(words).split())
        self.names[kind, attributes.get("id", "")[:MAX_NAME]] = name[:MAX_NAME]

    def _text(self, text: str) -> None:
        if self.game is None or self.path[-1] != "move":
            return
        self.length += len(text)
        if self.length > MAX_MOVE_TEXT:
            raise RifError(f"line {self.parser.CurrentLineNumber}: a game's moves are too long")
        self.moves.append(text)

    def _end(self, name: str) -> None:
        self.path.pop()
        if name != "game" or self.game is None:
            return
        found, self.game = self.game, None
        self.ready.append(
            RifGame(
                game_id=found.get("id", ""),
                black=self._named("player", found.get("black", "")),
                white=self._named("player", found.get("white", "")),
                event=self._named("tournament", found.get("tournament", "")),
                result=found.get("bresult", "").strip(),
                moves="".join(self.moves),
            )
        )

    def _named(self, kind: str, key: str) -> str:
        return self.names.get((kind, key), f"{kind} {key}" if key else "")
