"""Games that are the same as an earlier one, on SQLite and PostgreSQL."""

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from meijin.game import Result
from meijin.store.ladders.repeats import fingerprint
from meijin.store.schema import BotVersionId, Game

if TYPE_CHECKING:
    from tests.store.league import League

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW
LINE = (112, 113, 97)


def repeats(league: "League") -> list[int]:
    """The numbers of the games that are marked as repeats."""
    query = select(Game.end_sequence).where(
        Game.is_repeat.is_(True), Game.ladder_id == league.ladder_id
    )
    return league.database.read(
        lambda connection: [number or 0 for number in connection.scalars(query)]
    )


def score(league: "League") -> tuple[float, ...]:
    """Wins, draws and losses of the rated games, by black."""
    counts = league.snapshot().counts
    return tuple(float(column.sum()) for column in (counts.wins, counts.draws, counts.losses))


def test_an_equal_game_is_rated_once(any_league: "League") -> None:
    """In one commit or in several; its players, colours, opening and moves are what counts."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), line=LINE)
    any_league.finish((0, 1, BLACK), line=LINE)
    assert sorted(repeats(any_league)) == [2, 3]
    assert any_league.snapshot().games == 1


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ((1, 0, BLACK), {}),
        ((0, 2, BLACK), {}),
        ((0, 1, BLACK), {"line": (*LINE, 98)}),
        ((0, 1, BLACK), {"line": LINE[:2]}),
        ((0, 1, BLACK), {"opening_plies": 1}),
    ],
)
def test_another_game_is_rated_too(
    any_league: "League", game: Any, changes: dict[str, Any]
) -> None:
    """Other colours, other players, other moves, or another length of the opening."""
    any_league.finish((0, 1, BLACK), line=LINE)
    any_league.finish(game, **({"line": LINE} | changes))
    assert repeats(any_league) == []
    assert any_league.snapshot().games == 2


def test_another_version_plays_another_game(any_league: "League") -> None:
    """A new version is a new player, though its bot is the same."""
    any_league.finish((0, 1, BLACK), line=LINE)
    any_league.renew(0, "2.0")
    any_league.finish((0, 1, BLACK), line=LINE)
    assert repeats(any_league) == []


def test_other_ladders_have_their_own_games(
    any_league: "League", make_league: "type[League]"
) -> None:
    """The same players may play the same moves once on each."""
    other = make_league(any_league.database, name="standard-15x15", bots=2)
    other.versions[:2] = any_league.versions[:2]
    any_league.finish((0, 1, BLACK), line=LINE)
    other.finish((0, 1, BLACK), line=LINE)
    assert repeats(any_league) == repeats(other) == []


def test_equal_fingerprints_are_no_equal_games(any_league: "League") -> None:
    """Two games whose hashes collide are compared move by move."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK))
    any_league.change_game(1, fingerprint=7)
    any_league.change_game(2, fingerprint=7)
    any_league.finish((0, 2, BLACK), (0, 2, BLACK), line=LINE)
    any_league.void(1)
    assert repeats(any_league) == [4]


def test_the_first_repeat_takes_a_voided_games_place(any_league: "League") -> None:
    """And of what is voided then, the next."""
    any_league.finish((0, 1, BLACK), (0, 1, WHITE), (0, 1, DRAW), line=LINE)
    any_league.void(1)
    assert repeats(any_league) == [3]
    assert score(any_league) == (0, 0, 1)
    any_league.void(2)
    assert repeats(any_league) == []
    assert score(any_league) == (0, 1, 0)


def test_voiding_a_repeat_leaves_the_first(any_league: "League") -> None:
    """Nobody takes its place, since it had none."""
    any_league.finish((0, 1, BLACK), (0, 1, WHITE), (0, 1, DRAW), line=LINE)
    any_league.void(2)
    assert repeats(any_league) == [3]
    assert score(any_league) == (1, 0, 0)


@given(
    black=st.integers(1, 2**40),
    white=st.integers(1, 2**40),
    plies=st.integers(0, 484),
    moves=st.binary(max_size=40),
)
def test_a_fingerprint_fits_a_column(black: int, white: int, plies: int, moves: bytes) -> None:
    """It is a signed number of 64 bits, and the same for the same game."""
    players = BotVersionId(black), BotVersionId(white)
    value = fingerprint(*players, plies, moves)
    assert -(2**63) <= value < 2**63
    assert value == fingerprint(*players, plies, bytes(moves))
    assert value != fingerprint(*players, plies + 1, moves)


def test_a_fingerprint_never_changes() -> None:
    """It is kept in databases: another hash would let every old game be played again."""
    assert fingerprint(BotVersionId(1), BotVersionId(2), 3, b"\x70\x00") == 434943161807187923
