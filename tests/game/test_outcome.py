"""How games end."""

import pytest

from meijin.game import Color, Ending, Outcome, Party, Result

WON, LOST = Result.BLACK_WINS, Result.WHITE_WINS


def is_valid(result: Result, ending: Ending, at_fault: Party) -> bool:
    try:
        outcome = Outcome(ending, result.winner, at_fault)
    except ValueError:
        return False
    return outcome.result is result


@pytest.mark.parametrize("ending", Ending)
def test_results_and_faults_of_an_ending(ending: Ending) -> None:
    """An ending has its own results alone; a forfeit is the loser's fault, no other ending a side's."""
    decided = {WON, LOST}
    results = {
        Ending.DRAW: {Result.DRAW},
        Ending.ADJUDICATION: {*decided, Result.DRAW},
        Ending.VOID: {Result.NONE},
    }.get(ending, decided)
    for result in Result:
        blamed = {party for party in Party if is_valid(result, ending, party)}
        if result not in results:
            assert blamed == set()
        elif ending.is_forfeit:
            assert blamed == {Party.WHITE if result is WON else Party.BLACK}
        else:
            assert blamed == set(Party) - {Party.BLACK, Party.WHITE}
    forfeits = {"time", "illegal", "forbidden", "crash", "disconnect"}
    assert ending.is_forfeit is (ending.value in forfeits)


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
    ("result", "winner", "black", "white"),
    [(WON, Color.BLACK, 1, 0), (LOST, Color.WHITE, 0, 1), (Result.DRAW, None, 0.5, 0.5)],
)
def test_points(result: Result, winner: Color | None, black: float, white: float) -> None:
    """A win is one point, a draw half of one, and a void game gives none."""
    assert result.winner is winner
    assert winner is None or Result.won_by(winner) is result
    assert (result.points(Color.BLACK), result.points(Color.WHITE)) == (black, white)
    assert (result.mirrored.points(Color.WHITE)) == black
    assert Result.NONE.winner is None
    with pytest.raises(ValueError, match="a game without a result"):
        Result.NONE.points(Color.BLACK)


def test_party_of() -> None:
    """Each side is a party, and the other parties are no side."""
    assert [Party.of(color).value for color in Color] == ["black", "white"]
    assert [party.color for party in Party] == [None, *Color, None, None, None, None]
