"""The Gomocup protocol: replies read, and dialogues held with an engine that is a list."""

from collections.abc import Sequence
from typing import TypeVar

import pytest

from meijin.bots.bridge.dialogue import (
    SILENCE,
    Ask,
    Dialogue,
    EngineTime,
    Kind,
    NewGame,
    Reply,
    Turn,
)
from meijin.bots.bridge.errors import EngineRefusedError
from meijin.bots.bridge.gomocup import (
    GomocupProtocol,
    board_lines,
    parse_about,
    parse_reply,
    time_lines,
)
from meijin.bots.bridge.rules import RULE_NUMBERS
from meijin.bots.bridge.yixin import YixinProtocol
from meijin.game import RULES, STANDARD, SWAP, SWAP1, SWAP2, OpeningRule, Variant

_Result = TypeVar("_Result")

TIME = EngineTime(turn_ms=4900, match_ms=0, left_ms=None)
CLOCK = EngineTime(turn_ms=1000, match_ms=60_000, left_ms=59_000)
START = ["START 15"]


def hold(
    protocol: GomocupProtocol, dialogue: Dialogue[_Result], *answers: str
) -> tuple[_Result, list[list[str]]]:
    """Answer a dialogue's questions; return its result and what was sent."""
    waiting = list(answers)
    sent: list[list[str]] = []
    try:
        ask = next(dialogue)
        while True:
            if ask.lines:
                sent.append(list(ask.lines))
            ask = dialogue.send(_answer(protocol, ask, waiting))
    except StopIteration as end:
        assert waiting == []
        return end.value, sent


def _answer(protocol: GomocupProtocol, ask: Ask, waiting: list[str]) -> Reply:
    if not ask.expects:
        return SILENCE
    return protocol.read(waiting.pop(0)) if waiting else SILENCE


def begun(variant: Variant = Variant(), **options: str) -> GomocupProtocol:  # noqa: B008 - a value
    """A protocol whose engine has begun a game."""
    protocol = GomocupProtocol(options)
    hold(protocol, protocol.new_game(NewGame(variant, TIME)), "OK")
    return protocol


def choose(
    protocol: GomocupProtocol, moves: Sequence[int], *answers: str, time: EngineTime = TIME
) -> tuple[object, list[str]]:
    """Have the engine choose; return the point and all lines that were sent."""
    point, sent = hold(protocol, protocol.choose(Turn(moves, time)), *answers)
    return point, [line for lines in sent for line in lines]


@pytest.mark.parametrize(
    ("line", "kind", "points"),
    [
        ("7,8", Kind.MOVE, [(7, 8)]),
        ("7 , 8", Kind.MOVE, [(7, 8)]),
        ("> > 7,8", Kind.MOVE, [(7, 8)]),
        (">", Kind.NOISE, []),
        ("-1,400", Kind.MOVE, [(-1, 400)]),
        ("7,7 8,8 9,9", Kind.MOVE, [(7, 7), (8, 8), (9, 9)]),
        ("SUGGEST 3,4", Kind.SUGGEST, [(3, 4)]),
        ("suggest 3, 4", Kind.SUGGEST, [(3, 4)]),
        ("SUGGEST", Kind.NOISE, []),
        ("SWAP", Kind.SWAP, []),
        ("OK", Kind.OK, []),
        ("OK - everything is good", Kind.OK, []),
        ("OKAY", Kind.NOISE, []),
        ("UNKNOWN", Kind.UNKNOWN, []),
        ("ERROR unsupported size", Kind.ERROR, []),
        ("MESSAGE 7,8", Kind.MESSAGE, []),
        ("DEBUG 7,8", Kind.MESSAGE, []),
        ('name="A", version="1.0"', Kind.ABOUT, []),
        ("7,", Kind.NOISE, []),
        ("7,8,9", Kind.NOISE, []),
        ("7", Kind.NOISE, []),
        ("12345678901,2", Kind.NOISE, []),
    ],
)
def test_replies(line: str, kind: Kind, points: list[tuple[int, int]]) -> None:
    """Every line is of one kind."""
    reply = parse_reply(line)
    assert (reply.kind, list(reply.points)) == (kind, points)


def test_about() -> None:
    """An engine tells its name and its version in any order and case."""
    told = parse_about('Version = "2.1", name="Some Brain", country="CZ"')
    assert (told["name"], told["version"]) == ("Some Brain", "2.1")


def test_start_of_a_game() -> None:
    """START, then what is to be known of the game, the engine's options last."""
    protocol = GomocupProtocol({"thread_num": "2"})
    game = NewGame(Variant(STANDARD, 19, 19), CLOCK, memory=1 << 20)
    _, sent = hold(protocol, protocol.new_game(game), "OK")
    assert sent == [
        ["START 19"],
        [
            "INFO max_memory 1048576",
            "INFO game_type 1",
            "INFO rule 1",
            "INFO timeout_match 60000",
            "INFO timeout_turn 1000",
            "INFO time_left 59000",
            "INFO thread_num 2",
        ],
    ]


@pytest.mark.parametrize(
    ("name", "number"),
    [("freestyle", 0), ("standard", 1), ("renju", 4), ("caro", 8), ("caro-exact", 9)],
)
def test_every_rule_is_told(name: str, number: int) -> None:
    """Each rule has its number; renju has another in Yixin's own text."""
    game = NewGame(Variant(RULES[name]), TIME)
    for protocol in (GomocupProtocol({}), YixinProtocol({})):
        _, sent = hold(protocol, protocol.new_game(game), "OK")
        is_dialect = name == "renju" and isinstance(protocol, YixinProtocol)
        assert f"INFO rule {2 if is_dialect else number}" in sent[1]
    assert set(RULES) == set(RULE_NUMBERS)


def test_rectangular_board() -> None:
    """RECTSTART has columns and rows."""
    protocol = GomocupProtocol({})
    _, sent = hold(protocol, protocol.start(Variant(width=10, height=12)), "OK")
    assert sent == [["RECTSTART 10,12"]]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (["ERROR no such size"], "answers START 15 with ERROR no such size"),
        (["UNKNOWN"], "answers START 15 with UNKNOWN"),
        ([], "doesn't answer START 15"),
    ],
)
def test_start_that_is_refused(answers: list[str], words: str) -> None:
    """The complaint names the command and the answer."""
    protocol = GomocupProtocol({})
    with pytest.raises(EngineRefusedError, match=words):
        hold(protocol, protocol.start(Variant()), *answers)


def test_next_game() -> None:
    """RESTART clears a board with stones; another size is started."""
    protocol = begun()
    choose(protocol, [], "7,7")
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), "OK")
    assert sent[0] == ["RESTART"]
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(), TIME)))
    assert sent[0][0] == "INFO max_memory 0"  # it has no stones
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(width=9, height=9), TIME)), "OK")
    assert sent[0] == ["START 9"]


def test_restart_that_is_refused() -> None:
    """An engine without RESTART has to be started anew."""
    protocol = begun()
    choose(protocol, [], "7,7")
    with pytest.raises(EngineRefusedError, match="answers RESTART with UNKNOWN"):
        hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), "UNKNOWN")


def test_positions() -> None:
    """BEGIN, TURN, and BOARD where the engine hasn't seen the moves before the last."""
    protocol = begun()
    assert choose(protocol, [], "7,7") == ((7, 7), ["BEGIN"])
    assert choose(protocol, [112, 0], "8,8") == ((8, 8), ["TURN 0,0"])
    assert choose(protocol, [112, 0, 113, 1], "9,9")[1][0] == "BOARD"
    assert choose(begun(), [16], "9,9")[1] == ["TURN 1,1"]


def test_board_as_the_side_to_move_sees_it() -> None:
    """Stones are in the order played, 1 the engine's own and 2 the opponent's."""
    assert board_lines([0, 16, 32], Variant()) == ["BOARD", "0,0,2", "1,1,1", "2,2,2", "DONE"]
    assert board_lines([0, 16], Variant()) == ["BOARD", "0,0,1", "1,1,2", "DONE"]


def test_time_is_told_when_it_changes() -> None:
    """What the engine knows already is left out."""
    assert time_lines(CLOCK, CLOCK) == []
    later = EngineTime(turn_ms=1000, match_ms=60_000, left_ms=50_000)
    assert time_lines(later, CLOCK) == ["INFO time_left 50000"]
    assert time_lines(TIME)[-1] == "INFO time_left 2147483647"
    assert choose(begun(), [], "7,7", time=CLOCK)[1][-2:] == ["INFO time_left 59000", "BEGIN"]


def test_suggestion_is_played() -> None:
    """A suggested move is played, with PLAY where the engine knows it."""
    assert choose(begun(), [], "SUGGEST 3,4", "3,4") == ((3, 4), ["BEGIN", "PLAY 3,4"])
    assert choose(begun(), [], "SUGGEST 3,4", "UNKNOWN")[0] == (3, 4)
    assert choose(begun(), [], "SUGGEST 3,4")[0] == (3, 4)


def test_refused_turn_is_asked_again_with_the_board() -> None:
    """ERROR and UNKNOWN in answer to TURN are no end yet; in answer to BOARD they are."""
    point, sent = choose(begun(), [16], "ERROR lost", "2,2")
    assert (point, sent) == ((2, 2), ["TURN 1,1", "BOARD", "1,1,2", "DONE"])
    with pytest.raises(EngineRefusedError, match="answers BOARD with UNKNOWN"):
        choose(begun(), [16], "ERROR lost", "UNKNOWN")


def test_unknown_turn() -> None:
    """Once a move has come, an UNKNOWN is for the command and not for an INFO before it."""
    protocol = begun()
    choose(protocol, [], "UNKNOWN", "7,7")
    assert choose(protocol, [112, 0], "UNKNOWN", "8,8")[1][:2] == ["TURN 0,0", "BOARD"]


def test_unknown_time_is_no_refusal_to_move() -> None:
    """An UNKNOWN for each line about the time is passed over."""
    point, sent = choose(begun(), [16], "UNKNOWN", "UNKNOWN", "UNKNOWN", "2,2", time=CLOCK)
    assert (point, sent[-1]) == ((2, 2), "TURN 1,1")


def test_engine_that_is_known_to_heed_time() -> None:
    """One that hasn't answered INFO by its first move means its question when it says UNKNOWN."""
    protocol = begun()
    choose(protocol, [], "7,7")
    assert protocol.answers_hints is False
    sent = choose(protocol, [112, 0], "UNKNOWN", "8,8", time=CLOCK)[1]
    assert sent[3:5] == ["TURN 0,0", "BOARD"]
    picky = begun()
    choose(picky, [], "UNKNOWN", "7,7")
    assert picky.answers_hints is True


def test_take_back() -> None:
    """A stone is taken back by its place."""
    protocol = begun()
    choose(protocol, [], "7,7")
    assert hold(protocol, protocol.take_back(112), "OK")[1] == [["TAKEBACK 7,7"]]
    assert choose(protocol, [], "7,7")[1] == ["BEGIN"]


def opened(
    protocol: GomocupProtocol, rule: OpeningRule, stones: Sequence[int], *answers: str
) -> tuple[Sequence[tuple[int, int]], list[str]]:
    """Have the engine act in an opening; return its points and all lines that were sent."""
    points, sent = hold(protocol, protocol.open(Turn(stones, TIME), rule), *answers)
    return points, [line for lines in sent for line in lines]


@pytest.mark.parametrize(
    ("rule", "stones", "answer", "points"),
    [
        (SWAP2, 0, "7,7 8,8 9,9", [(7, 7), (8, 8), (9, 9)]),
        (SWAP2, 3, "SWAP", []),
        (SWAP2, 3, "swap", []),
        (SWAP2, 3, "5,5", [(5, 5)]),
        (SWAP2, 3, "5,5 6,6", [(5, 5), (6, 6)]),
        (SWAP2, 5, "SWAP", []),
        (SWAP2, 5, "9,9", [(9, 9)]),
        (SWAP, 0, "7,7 8,8 9,9", [(7, 7), (8, 8), (9, 9)]),
        (SWAP, 3, "SWAP", []),
        (SWAP, 3, "5,5", [(5, 5)]),
        (SWAP1, 0, "7,7", [(7, 7)]),
        (SWAP1, 1, "SWAP", []),
        (SWAP1, 1, "5,5", [(5, 5)]),
    ],
)
def test_openings(
    rule: OpeningRule, stones: int, answer: str, points: Sequence[tuple[int, int]]
) -> None:
    """The stones so far are shown; the answer is stones, the other side, or a move."""
    protocol = begun()
    found, sent = opened(protocol, rule, range(stones), answer)
    assert list(found) == points
    command = {SWAP2: "SWAP2BOARD", SWAP: "SWAPBOARD", SWAP1: "SWAP1STBOARD"}[rule]
    assert sent == [command, *(f"{cell},0" for cell in range(stones)), "DONE"]
    assert choose(protocol, range(stones), "9,9")[1][0] == "BOARD"


@pytest.mark.parametrize(
    ("rule", "stones", "answer"),
    [
        (SWAP2, 0, "SWAP"),
        (SWAP2, 0, "7,7"),
        (SWAP2, 3, "5,5 6,6 7,7"),
        (SWAP2, 5, "5,5 6,6"),
        (SWAP2, 0, "UNKNOWN"),
        (SWAP2, 3, "ERROR not ready"),
        (SWAP, 3, "5,5 6,6"),
        (SWAP1, 0, "SWAP"),
    ],
)
def test_opening_answer_that_is_none(rule: OpeningRule, stones: int, answer: str) -> None:
    """It is refused, with its words: nobody swaps what isn't there, or places four stones."""
    protocol = begun()
    protocol.answers_hints = False
    with pytest.raises(EngineRefusedError, match=f"BOARD with {answer}"):
        opened(protocol, rule, range(stones), answer)


def test_time_is_told_before_an_opening() -> None:
    """What it has for its choice; an UNKNOWN for that is no answer to the opening."""
    protocol = begun()
    turn = Turn((), CLOCK)
    answers = ("UNKNOWN", "UNKNOWN", "UNKNOWN", "7,7 8,8 9,9")
    points, sent = hold(protocol, protocol.open(turn, SWAP2), *answers)
    assert sent[0][-3:] == ["INFO time_left 59000", "SWAP2BOARD", "DONE"]
    assert len(points) == 3


def test_end() -> None:
    """END."""
    assert GomocupProtocol({}).end() == ["END"]
