"""The Gomocup protocol: replies read, and dialogues held with an engine that is a list."""

from collections.abc import Sequence

import pytest
from tests.bots.bridge.conftest import CLOCK, TIME, begun, hold

from meijin.bots.bridge.dialogue import EngineRefusedError, EngineTime, NewGame, ReplyKind
from meijin.bots.bridge.gomocup import (
    RULE_NUMBERS,
    GomocupProtocol,
    YixinProtocol,
    parse_about,
    parse_reply,
)
from meijin.game import RULES, STANDARD, SWAP, SWAP1, SWAP2, OpeningRule, Variant


def choose(
    protocol: GomocupProtocol, moves: Sequence[int], *answers: str | None, time: EngineTime = TIME
) -> tuple[object, list[str]]:
    """Have the engine choose; return the point and the lines that were sent."""
    return hold(protocol, protocol.choose(moves, time), *answers)


@pytest.mark.parametrize(
    ("line", "kind", "points"),
    [
        ("7,8", ReplyKind.MOVE, [(7, 8)]),
        ("7 , 8", ReplyKind.MOVE, [(7, 8)]),
        ("> > 7,8", ReplyKind.MOVE, [(7, 8)]),
        (">", ReplyKind.NOISE, []),
        ("-1,400", ReplyKind.MOVE, [(-1, 400)]),
        ("7,7 8,8 9,9", ReplyKind.MOVE, [(7, 7), (8, 8), (9, 9)]),
        ("suggest 3, 4", ReplyKind.SUGGEST, [(3, 4)]),
        ("SUGGEST", ReplyKind.NOISE, []),
        ("SWAP", ReplyKind.SWAP, []),
        ("OK - everything is good", ReplyKind.OK, []),
        ("OKAY", ReplyKind.NOISE, []),
        ("UNKNOWN", ReplyKind.UNKNOWN, []),
        ("ERROR unsupported size", ReplyKind.ERROR, []),
        ("MESSAGE 7,8", ReplyKind.MESSAGE, []),
        ("DEBUG 7,8", ReplyKind.MESSAGE, []),
        ('name="A", version="1.0"', ReplyKind.ABOUT, []),
        ("7,", ReplyKind.NOISE, []),
        ("7,8,9", ReplyKind.NOISE, []),
        ("12345678901,2", ReplyKind.NOISE, []),
        ("7.0,7.0", ReplyKind.NOISE, []),
        ("\uff17,\uff17", ReplyKind.NOISE, []),
    ],
)
def test_replies(line: str, kind: ReplyKind, points: list[tuple[int, int]]) -> None:
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
    assert hold(protocol, protocol.new_game(game), "OK")[1] == [
        "START 19",
        "INFO max_memory 1048576",
        "INFO game_type 1",
        "INFO rule 1",
        "INFO timeout_match 60000",
        "INFO timeout_turn 1000",
        "INFO time_left 59000",
        "INFO thread_num 2",
    ]


@pytest.mark.parametrize(
    ("name", "number"),
    [("freestyle", 0), ("standard", 1), ("renju", 4), ("caro", 8), ("caro-exact", 9)],
)
def test_every_rule_is_told(name: str, number: int) -> None:
    """Each rule has its number; renju has another in Yixin's own text."""
    for kind in (GomocupProtocol, YixinProtocol):
        told = 2 if name == "renju" and kind is YixinProtocol else number
        _, sent = hold(it := kind({}), it.new_game(NewGame(Variant(RULES[name]), TIME)), "OK")
        assert f"INFO rule {told}" in sent
    assert set(RULES) == set(RULE_NUMBERS)


def test_rectangular_board() -> None:
    """RECTSTART has columns and rows."""
    protocol = GomocupProtocol({})
    _, sent = hold(protocol, protocol.start(Variant(width=10, height=12)), "OK")
    assert sent == ["RECTSTART 10,12"]


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
    """RESTART clears a board with stones, which may be refused; another size is started."""
    protocol = begun()
    choose(protocol, [], "7,7")
    assert hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), "OK")[1][0] == "RESTART"
    _, sent = hold(protocol, protocol.new_game(NewGame(Variant(), TIME)))
    assert sent[0] == "INFO game_type 1"  # it has no stones
    nine = NewGame(Variant(width=9, height=9), TIME)
    assert hold(protocol, protocol.new_game(nine), "OK")[1][0] == "START 9"


@pytest.mark.parametrize("answer", ["UNKNOWN", "ERROR what?", None])
def test_engine_without_restart(answer: str | None) -> None:
    """It is told to START again, and all its processes from then on are asked for nothing else."""
    protocol = begun()
    choose(protocol, [], "7,7")
    _, sent = hold(protocol, protocol.set_up(Variant()), answer, "OK")
    assert sent[:2] == ["RESTART", "START 15"]
    other = GomocupProtocol({}, protocol.traits)
    hold(other, other.new_game(NewGame(Variant(), TIME)), "OK")
    choose(other, [], "7,7")
    assert hold(other, other.set_up(Variant()), "OK")[1][0] == "START 15"


def test_restart_that_is_lost_once() -> None:
    """An engine that has answered RESTART is asked for it again later."""
    protocol = begun()
    for answers in (("OK",), (None, "OK"), ("OK",)):
        choose(protocol, [], "7,7")
        assert hold(protocol, protocol.set_up(Variant()), *answers)[1][0] == "RESTART"


def test_folder_and_memory() -> None:
    """They are told where they are given; an engine may be known not to bear a limit."""
    protocol = GomocupProtocol({})
    game = NewGame(Variant(), TIME, memory=1024, folder="/var/brains")
    _, sent = hold(protocol, protocol.new_game(game), "OK")
    assert sent[1:3] == ["INFO max_memory 1024", "INFO folder /var/brains"]
    protocol.traits.hears_memory = False
    assert "max_memory" not in " ".join(hold(protocol, protocol.new_game(game))[1])


def test_positions() -> None:
    """BEGIN, TURN, and BOARD where the engine hasn't seen the moves before the last.

    Stones are in the order played, 1 the engine's own and 2 the opponent's.
    """
    protocol = begun()
    assert choose(protocol, [], "7,7") == ((7, 7), ["BEGIN"])
    assert choose(protocol, [112, 0], "8,8") == ((8, 8), ["TURN 0,0"])
    board = ["BOARD", "7,7,1", "0,0,2", "8,7,1", "1,0,2", "DONE"]
    assert choose(protocol, [112, 0, 113, 1], "OK", "9,9")[1] == ["RESTART", *board]
    assert choose(begun(), [16], "9,9")[1] == ["TURN 1,1"]
    assert choose(begun(), [0, 16, 32], "9,9")[1] == ["BOARD", "0,0,2", "1,1,1", "2,2,2", "DONE"]


def test_time_is_told_when_it_changes() -> None:
    """What the engine knows already is left out."""
    protocol = begun()
    told = ["INFO timeout_turn 1000", "INFO time_left 59000"]
    assert choose(protocol, [], "7,7", time=CLOCK)[1] == [*told, "BEGIN"]
    later = EngineTime(turn_ms=1000, match_ms=59_900, left_ms=50_000)
    sent = choose(protocol, [112, 0], "8,8", time=later)[1]
    assert sent == ["INFO time_left 50000", "TURN 0,0"]
    assert "INFO time_left 2147483647" in choose(protocol, [112, 0, 128, 1], "9,9")[1]


def test_suggestion_is_played() -> None:
    """A suggested move is played, with PLAY where the engine knows it."""
    assert choose(begun(), [], "SUGGEST 3,4", "3,4") == ((3, 4), ["BEGIN", "PLAY 3,4"])


@pytest.mark.parametrize("answer", ["UNKNOWN", None])
def test_engine_that_suggests_and_knows_no_play(answer: str | None) -> None:
    """Its suggestion is its move; it is never again told to play, and is shown the position."""
    protocol = begun()
    assert choose(protocol, [], "SUGGEST 3,4", answer)[0] == (3, 4)
    point, sent = choose(protocol, [63, 0], "OK", "SUGGEST 8,8")
    assert (point, sent) == ((8, 8), ["RESTART", "BOARD", "3,4,1", "0,0,2", "DONE"])


def test_move_that_follows_a_refusal() -> None:
    """ERROR and UNKNOWN may be about anything: a move that comes is the move."""
    protocol = begun()
    answers = ("ERROR Unknown command: EARLIER", "UNKNOWN", "2,2")
    assert choose(protocol, [16], *answers, time=CLOCK) == (
        (2, 2),
        ["INFO timeout_turn 1000", "INFO time_left 59000", "TURN 1,1"],
    )
    assert protocol.traits.takes_turns


BOARD = ["RESTART", "BOARD", "1,1,2", "DONE"]


def test_refused_turn_is_asked_again_with_the_board() -> None:
    """Where no move follows; an engine that then moves is shown the position from then on."""
    protocol = begun()
    point, sent = choose(protocol, [16], "ERROR lost", None, "OK", "2,2")
    assert (point, sent) == ((2, 2), ["TURN 1,1", *BOARD])
    assert choose(protocol, [16, 32, 48], "OK", "5,5")[1][:2] == ["RESTART", "BOARD"]
    with pytest.raises(EngineRefusedError, match="answers BOARD with UNKNOWN no"):
        choose(begun(), [16], "ERROR lost", None, "OK", "UNKNOWN no", None)


def test_error_that_names_what_was_told_of_the_time() -> None:
    """It is no refusal of the question, however long the engine thinks about that."""
    dialogue = (protocol := begun()).choose([16], CLOCK)
    next(dialogue)
    ask = dialogue.send(protocol.read("ERROR Unknown command: TIMEOUT_TURN"))
    assert (ask.lines, ask.patience) == ([], None)


def test_unknown_time_is_no_refusal_to_move() -> None:
    """An UNKNOWN for each INFO is passed over; once a move has come, it is for the command."""
    protocol = begun()
    protocol.traits.takes_turns = True
    point, sent = choose(protocol, [16], "UNKNOWN", "UNKNOWN", "UNKNOWN", "2,2", time=CLOCK)
    assert (point, sent[-1], protocol.traits.answers_hints) == ((2, 2), "TURN 1,1", True)
    moves = [16, 32, 0]
    sent = choose(protocol, moves, "UNKNOWN", None, "OK", "8,8", time=CLOCK)[1]
    assert sent[:3] == ["TURN 0,0", "RESTART", "BOARD"]


def test_engine_that_is_known_to_heed_time() -> None:
    """One that hasn't answered INFO by its first move means its question when it says UNKNOWN."""
    protocol = begun()
    choose(protocol, [], "7,7")
    assert protocol.traits.answers_hints is False
    sent = choose(protocol, [112, 0], "UNKNOWN", None, "OK", "8,8", time=CLOCK)[1]
    assert sent[2:5] == ["TURN 0,0", "RESTART", "BOARD"]


COMMANDS = {SWAP2: "SWAP2BOARD", SWAP: "SWAPBOARD", SWAP1: "SWAP1STBOARD"}


@pytest.mark.parametrize(
    ("rule", "stones", "answer", "points"),
    [
        (SWAP2, 0, "7,7 8,8 9,9", [(7, 7), (8, 8), (9, 9)]),
        (SWAP2, 3, "swap", []),
        (SWAP2, 3, "5,5", [(5, 5)]),
        (SWAP2, 3, "5,5 6,6", [(5, 5), (6, 6)]),
        (SWAP2, 5, "SWAP", []),
        (SWAP2, 5, "9,9", [(9, 9)]),
        (SWAP, 3, "5,5", [(5, 5)]),
        (SWAP1, 0, "7,7", [(7, 7)]),
        (SWAP1, 1, "SWAP", []),
    ],
)
def test_openings(
    rule: OpeningRule, stones: int, answer: str, points: Sequence[tuple[int, int]]
) -> None:
    """The stones so far are shown; the answer is stones, the other side, or a move."""
    protocol = begun()
    found, sent = hold(protocol, protocol.open(range(stones), TIME, rule), answer)
    assert list(found) == points
    assert sent == [COMMANDS[rule], *(f"{cell},0" for cell in range(stones)), "DONE"]
    assert choose(protocol, range(stones), "OK", "9,9")[1][:2] == ["RESTART", "BOARD"]


def test_stones_of_an_opening_with_their_sides() -> None:
    """Where an engine reads them in no other way."""
    protocol = begun()
    protocol.traits.numbers_openings = True
    _, sent = hold(protocol, protocol.open(range(3), TIME, SWAP2), "SWAP")
    assert sent == ["SWAP2BOARD", "0,0,1", "1,0,2", "2,0,1", "DONE"]


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
    protocol.traits.answers_hints = False
    with pytest.raises(EngineRefusedError, match=f"BOARD with {answer}"):
        hold(protocol, protocol.open(range(stones), TIME, rule), answer)


def test_time_is_told_before_an_opening() -> None:
    """What it has for its choice; an UNKNOWN for that is no answer to the opening."""
    protocol = begun()
    answers = ("UNKNOWN", "UNKNOWN", "7,7 8,8 9,9")
    points, sent = hold(protocol, protocol.open((), CLOCK, SWAP2), *answers)
    assert sent[-3:] == ["INFO time_left 59000", "SWAP2BOARD", "DONE"]
    assert len(points) == 3


def test_stop() -> None:
    """The move of a search that is stopped is dropped, and the next position shown whole."""
    protocol = YixinProtocol({})
    hold(protocol, protocol.new_game(NewGame(Variant(), TIME)), "OK")
    choose(protocol, [], "7,7")
    assert hold(protocol, protocol.stop(), "8,8")[1] == ["yxstop"]
    assert choose(protocol, [112, 0], "OK", "9,9")[1][:2] == ["RESTART", "BOARD"]
    with pytest.raises(EngineRefusedError, match="doesn't answer yxstop"):
        hold(protocol, protocol.stop())


@pytest.mark.parametrize(
    ("usual", "said", "refused"),
    [
        ([], [], {}),
        ([], ["UNKNOWN"], {"depth": "UNKNOWN"}),
        (["UNKNOWN"], ["UNKNOWN"], {}),
        (["UNKNOWN"], ["ERROR no depth"], {"depth": "ERROR no depth"}),
        ([], ["MESSAGE Unknown Info Parameter: DEPTH"], None),
        ([], ["MESSAGE Unknown Info Parameter: DEPTH", "ERROR Unknown command: 3"], None),
        ([], ["MESSAGE depth set to 3"], {}),
        ([], ["MESSAGE unknown opening book"], {}),
    ],
)
def test_an_option_that_an_engine_does_not_know_is_found(
    usual: list[str], said: list[str], refused: dict[str, str] | None
) -> None:
    """By what it says of it before the OK of a START, and not of an INFO that all have to know."""
    protocol = GomocupProtocol({"depth": "3"})
    found, sent = hold(protocol, protocol.find_refused(Variant()), *usual, "OK", *said, "OK")
    assert sent == ["INFO game_type 1", "START 15", "INFO depth 3", "START 15"]
    expected = {"depth": "MESSAGE Unknown Info Parameter: DEPTH"} if refused is None else refused
    assert found == expected
