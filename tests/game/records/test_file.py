"""Files of games."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game.made_records import records

from meijin.game import GOMOKU, GameRecord, Variant
from meijin.game.records import file as record_file
from meijin.game.records.file import (
    MAX_GAME_CHARS,
    MAX_TEXT_BYTES,
    FileFormat,
    format_of_name,
    format_of_start,
    read_games,
    write_game,
)

RECORD = GameRecord(GOMOKU, "ann", "bob", (112, 98))
ENOUGH = 20


@settings(max_examples=ENOUGH)
@given(
    st.lists(records(), min_size=1, max_size=3), st.sampled_from((FileFormat.SGF, FileFormat.JSON))
)
def test_many_games_are_one_file(games: list[GameRecord], form: FileFormat) -> None:
    """Games one behind the other are read one after another, all of each."""
    data = "".join(write_game(game, form) for game in games).encode()
    assert format_of_start(data) is form
    assert [found.record for found in read_games([data[:9], data[9:]], form)] == games


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (FileFormat.SGF, "a.SGF"),
        (FileFormat.PSQ, "b.psq"),
        (FileFormat.POSITIONS, "c.pos"),
        (FileFormat.JSON, "d.jsonl"),
    ],
)
def test_a_file_is_known_by_its_name_or_beginning(form: FileFormat, name: str) -> None:
    """By its ending, in capitals too."""
    assert format_of_name(name) is form
    data = write_game(RECORD, form).encode()
    assert format_of_start(data) is form
    assert format_of_start(b"\xef\xbb\xbf\n" + data) is form
    (found,) = read_games([data], form)
    assert found.record is not None
    assert found.record.moves == RECORD.moves


def test_a_database_is_xml() -> None:
    """It is RenjuNet's to write."""
    assert format_of_name("e.xml") is FileFormat.RIF
    assert format_of_name("f.png") is None
    assert format_of_start(b'<?xml version="1.0"?><database>') is FileFormat.RIF
    with pytest.raises(ValueError, match="games are not written as rif"):
        write_game(RECORD, FileFormat.RIF)


def test_a_json_object_may_have_many_lines() -> None:
    text = json.dumps(json.loads(write_game(RECORD, FileFormat.JSON)), indent=2)
    (found,) = read_games([text.encode()], FileFormat.JSON)
    assert found.record == RECORD


def test_what_is_wrong_is_told_game_by_game() -> None:
    """The other games of a file are read."""
    found = list(read_games([b"h8i9\n# a comment\n\nh8h8\nh8\n"], FileFormat.POSITIONS))
    assert [each.place for each in found] == ["line 1", "line 4", "line 5"]
    assert [each.error for each in found] == ["", "h8 is occupied", ""]


def test_the_variant_of_a_position_is_told() -> None:
    (found,) = read_games([b"a1"], FileFormat.POSITIONS, Variant(width=19, height=19))
    assert found.record is not None
    assert found.record.moves == (18 * 19,)


def test_a_text_in_an_old_encoding_is_read() -> None:
    """Bytes that are no UTF-8 are Latin-1."""
    (found,) = read_games([b"(;GM[4]PB[J\xf6rg])"], FileFormat.SGF)
    assert found.record is not None
    assert found.record.black == "Jörg"


def test_a_large_file_is_refused_before_it_is_read() -> None:
    """However many of its bytes there are."""
    endless = iter(lambda: b"x" * (MAX_TEXT_BYTES // 4), None)
    with pytest.raises(ValueError, match="the file is larger than 64 MiB"):
        list(read_games(endless, FileFormat.SGF))


@pytest.mark.parametrize(
    "text",
    [
        "(;" * 1000,
        "(" * 100_000,
        "(;GM[4]" + ";" * 100_000 + ")",
        "(;GM[4]" + "(;C[x]" * 50_000,
        "(;C[" + "\\" * 400_001,
        "(;" + "A" * 400_000 + "[x",
        "(;GM[4]" + ";B[aa]" * 50_000 + ")",
        "(;SZ[" + "9" * 10_000 + "])",
        "(;C" + "[x]" * 300_000,
        "(;GM[4]C[" + "x" * MAX_GAME_CHARS + "])",
        "(;" * (MAX_GAME_CHARS // 2 + 1),
    ],
)
def test_hostile_sgf_is_refused(text: str) -> None:
    """Deep, long and broken ones, each in words."""
    found = list(read_games([text.encode()], FileFormat.SGF))
    assert all(each.record is None and each.error for each in found)


@pytest.mark.parametrize("form", [FileFormat.PSQ, FileFormat.POSITIONS, FileFormat.JSON])
@pytest.mark.parametrize("text", ["\x01" * 1000, "1,1,0\n" * 10_000, "[" * 100_000, "h8" * 200_000])
def test_hostile_texts_are_refused(form: FileFormat, text: str) -> None:
    if form is FileFormat.PSQ:
        text = f"Piskvorky 15x15, 0:0, 0\n{text}"
    if form is FileFormat.PSQ and not text.endswith(",0\n"):
        assert next(read_games([text.encode()], form)).record is not None  # a strange name
        return
    found = list(read_games([text.encode()], form))
    assert found
    assert all(each.record is None and each.error for each in found)


def test_a_name_may_hold_what_some_take_for_a_line_break() -> None:
    """A file has the usual ones alone between its lines."""
    record = GameRecord(GOMOKU, "a\x85b\u2028c\x1cd\0", "bob", (112,))
    for form in (FileFormat.JSON, FileFormat.SGF):
        (found,) = read_games([write_game(record, form).encode()], form)
        assert found.record == record


def test_what_is_no_text_is_refused() -> None:
    """At once, and not line by line."""
    with pytest.raises(ValueError, match="the file is no text"):
        list(read_games([b"\x7fELF\0\0\n" * 1000], FileFormat.POSITIONS))


def test_games_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of nothing but beginnings ends somewhere."""
    monkeypatch.setattr(record_file, "MAX_GAMES", 3)
    games = read_games([b"(;)" * 4], FileFormat.SGF)
    assert [next(games).place for _ in range(3)] == ["game 1", "game 2", "game 3"]
    with pytest.raises(ValueError, match="more than 3 games"):
        next(games)
