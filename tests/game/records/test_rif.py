"""RenjuNet's XML database."""

from collections.abc import Iterator

import pytest

from meijin.game import Color, Ending, Outcome
from meijin.game.records.rif import (
    MAX_DEPTH,
    MAX_MOVE_TEXT,
    MAX_TOKEN,
    RIF_VARIANT,
    RifError,
    read_rif,
)

FIVE = "a1 a2 b1 b2 c1 c2 d1 d2 e1"
DATABASE = f"""<?xml version="1.0" encoding="UTF-8"?>
<database version="1.0">
<players>
<player id="1" name="Ann" surname="Black" country="3"/>
<player id="2" name="B&#246;b" surname=""/>
</players>
<rules><rule id="2" name="RIF"><info>words</info></rule></rules>
<tournaments><tournament id="7" name="Spring cup"/></tournaments>
<games>
<game id="11" tournament="7" rule="2" black="1" white="2" bresult="1"><move>{FIVE}</move></game>
<game id="12" tournament="8" rule="2" black="2" white="9" bresult="0.5">
<move>h8i9
j10</move><info>h1</info></game>
<game id="13" black="1" white="2"><move>h8 h8</move></game>
</games></database>""".encode()


def chunks(data: bytes, size: int = 7) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def test_games_are_read() -> None:
    """With their players' names, results and moves."""
    won, drawn, _ = read_rif(chunks(DATABASE))
    record = won.record()
    assert (record.black, record.white, record.event) == ("Ann Black", "Böb", "Spring cup")
    assert record.outcome == Outcome(Ending.FIVE, Color.BLACK)
    assert (record.game_id, len(record.moves), record.variant) == ("11", 9, RIF_VARIANT)
    record = drawn.record()
    assert (record.white, record.event) == ("player 9", "tournament 8")
    assert record.outcome == Outcome(Ending.ADJUDICATION)
    assert record.moves == (112, 98, 84)


def test_an_illegal_game_is_refused() -> None:
    *_, illegal = read_rif([DATABASE])
    with pytest.raises(ValueError, match="h8 is occupied"):
        illegal.record()


def test_games_before_an_error_are_given_out() -> None:
    """What was read of a file that goes wrong counts, wherever its pieces end."""
    cut = DATABASE.index(b'<game id="13"')
    for pieces in ([DATABASE[:cut] + b"</x>"], chunks(DATABASE[:cut])):
        games = read_rif(pieces)
        assert [next(games).game_id for _ in range(2)] == ["11", "12"]
        with pytest.raises(RifError, match="line 14: "):
            next(games)


BOMB = """<!DOCTYPE database [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<database><games><game id="1"><move>&b;</move></game></games></database>"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no element found"),
        ("no xml", "syntax error"),
        ("<html/>", "begins with <html> instead of <database>"),
        ("<database/>", "there is no <games>"),
        (BOMB, "document type is refused"),
        ('<!DOCTYPE database SYSTEM "http://127.0.0.1/x"><database/>', "document type is refused"),
        ("<database>" + "<a>" * MAX_DEPTH, "nested too deeply"),
        (f"<database><games><game><move>{'h8 ' * MAX_MOVE_TEXT}", "moves are too long"),
        (f'<database x="{"a" * 3 * MAX_TOKEN}"', "a tag is too long"),
        ("<database>&nbsp;</database>", "undefined entity"),
    ],
)
def test_refused(text: str, message: str) -> None:
    """A file that is none, or that was made to hurt, in one line."""
    with pytest.raises(RifError, match=message):
        list(read_rif(chunks(text.encode(), 1 << 16)))
