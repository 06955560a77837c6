"""How games end."""

from itertools import product

import pytest

from meijin.game import Color, Ending, Outcome, Party, Result

WON, LOST = Result.BLACK_WINS, Result.WHITE_WINS


def is_valid(result: Result, ending: Ending, at_fault: Party) -> bool:
    """Whether the three make an outcome."""
    try:
        outcome = Outcome(ending, result.winner, at_fault)
    except ValueError:
        return False
    return outcome.result is result


@pytest.mark.parametrize(
    ("ending", "results"),
    [
        (Ending.FIVE, {WON, LOST}),
        (Ending.RESIGN, {WON, LOST}),
        (Ending.DRAW, {Result.DRAW}),
        (Ending.ADJUDICATION, {WON, LOST, Result.DRAW}),
        (Ending.VOID, {Result.NONE}),
        *((ending, {WON, LOST}) for ending in Ending if ending.is_forfeit),
    ],
)
def test_results_of_an_ending(ending: Ending, results: set[Result]) -> None:
    """An ending allows its own results alone; a void game has none, and no other game."""
    allowed = {r for r, party in product(Result, Party) if is_valid(r, ending, party)}
    assert allowed == results


def test_forfeits() -> None:
    """Time, an illegal or a forbidden move, a crash and a disconnect lose by forfeit."""
    assert {ending.value for ending in Ending if ending.is_forfeit} == {
        "time",
        "illegal",
        "forbidden",
        "crash",
        "disconnect",
    }


@pytest.mark.parametrize("ending", [ending for ending in Ending if ending.is_forfeit])
def test_fault_of_a_forfeit(ending: Ending) -> None:
    """The loser is at fault for a forfeit, and nobody else."""
    assert [party for party in Party if is_valid(WON, ending, party)] == [Party.WHITE]
    assert [party for party in Party if is_valid(LOST, ending, party)] == [Party.BLACK]


@pytest.mark.parametrize(
    ("result", "ending"),
    [
        (WON, Ending.FIVE),
        (Result.DRAW, Ending.DRAW),
        (LOST, Ending.ADJUDICATION),
        (Result.NONE, Ending.VOID),
    ],
)
def test_no_side_at_fault(result: Result, ending: Ending) -> None:
    """No side is at fault for an ending that is no forfeit."""
    blamed = {party for party in Party if is_valid(result, ending, party)}
    assert blamed == set(Party) - {Party.BLACK, Party.WHITE}


def test_contradiction_is_named() -> None:
    """The error names result, ending and party."""
    with pytest.raises(ValueError, match='"black" can\'t be at fault for "1-0" by "time"'):
        Outcome(Ending.TIME, Color.BLACK, Party.BLACK)


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome(Ending.FIVE, Color.BLACK), "black wins by five"),
        (Outcome(Ending.ADJUDICATION, Color.WHITE), "white wins by adjudication"),
        (Outcome(Ending.TIME, Color.BLACK, Party.WHITE), "white forfeits: time"),
        (Outcome(Ending.RESIGN, Color.WHITE), "black resigns"),
        (Outcome(Ending.DRAW), "draw"),
        (Outcome(Ending.ADJUDICATION), "draw by adjudication"),
        (Outcome(Ending.VOID), "void"),
        (Outcome(Ending.VOID, None, Party.NETWORK), "void: network"),
    ],
)
def test_in_words(outcome: Outcome, text: str) -> None:
    """An outcome reads as a short sentence."""
    assert str(outcome) == text


@pytest.mark.parametrize(
    ("result", "black", "white"), [(WON, 1, 0), (LOST, 0, 1), (Result.DRAW, 0.5, 0.5)]
)
def test_points(result: Result, black: float, white: float) -> None:
    """A win is one point, a draw half of one."""
    assert result.points(Color.BLACK) == black
    assert result.points(Color.WHITE) == white


def test_no_points() -> None:
    """A void game gives no points."""
    with pytest.raises(ValueError, match="a game without a result"):
        Result.NONE.points(Color.BLACK)


@pytest.mark.parametrize("color", Color)
def test_won_by(color: Color) -> None:
    """The winner of a result that a side won is that side."""
    assert Result.won_by(color).winner is color
    assert Result.won_by(color).points(color) == 1


def test_no_winner() -> None:
    """Nobody wins a draw or a void game."""
    assert Result.DRAW.winner is None
    assert Result.NONE.winner is None


def test_party_of() -> None:
    """Each side is a party, and the other parties are no side."""
    assert [Party.of(color).value for color in Color] == ["black", "white"]
    assert [party.color for party in Party] == [None, *Color, None, None, None, None]
