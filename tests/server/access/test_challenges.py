"""Challenges between bots, and those of people: who may make them, and how they are played."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.duration_pb2 import Duration
from tests.peer import Peer, ending_of_call, play_moves
from tests.server_in_test import FIVE, SMALL, ServerInTest

from meijin.game import FREE, SWAP2, encode_moves, format_opening
from meijin.server.access import people
from meijin.server.access.people import AWAY
from meijin.v1 import analysis_service_pb2 as analysis_pb
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.wire.values import variant_to_proto

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

CLOSED = pytest.mark.settings(registration="closed")
BUDGET = pytest.mark.settings(registration="closed", challenge_games=3, challenge_games_a_day=4)
CLOCK = game_pb2.TimeControl(initial=Duration(seconds=600))
CREATE = "ChallengeService/CreateChallenge"
CANCEL = "ChallengeService/CancelChallenge"


def terms(games: int = 1, **more: Any) -> pb.ChallengeSettings:
    return pb.ChallengeSettings(
        games=games, variant=variant_to_proto(SMALL), time_control=CLOCK, **more
    )


async def owned(server: ServerInTest, name: str, owner: str, **more: Any) -> Peer:
    return await server.bot(name, token=await server.register(name, owner), **more)


async def accept(server: ServerInTest, name: str, policy: str) -> None:
    value = f"CHALLENGE_POLICY_{policy.upper()}"
    await server.ask("BotService/UpdateBot", name=name, challenges=value)


async def challenge(server: ServerInTest, token: str | None, **fields: Any) -> pb.Challenge:
    fields = {"opponent": "ada", "settings": terms(), **fields}
    made: pb.Challenge = (await server.ask(CREATE, token, **fields)).challenge
    return made


async def refusal(server: ServerInTest, token: str | None, **fields: Any) -> tuple[str, str]:
    fields = {"opponent": "ada", "settings": terms(), **fields}
    end = await server.refusal(CREATE, token, **fields)
    return end.reason, end.details


async def guest(server: ServerInTest, **capabilities: Any) -> tuple[str, Peer]:
    """A person's token, and the stream of the person."""
    entered = await server.ask("ChallengeService/EnterAsPerson", display_name="Zoë")
    return entered.token, await server.bot("", token=entered.token, **capabilities)


async def hosted(server: ServerInTest, **capabilities: Any) -> tuple[Peer, str, Peer]:
    """A bot that plays anyone; a person's token, and the stream of the person."""
    ada = await owned(server, "ada", "eve", **capabilities)
    await accept(server, "ada", "anyone")
    return ada, *await guest(server, **capabilities)


async def found(server: ServerInTest, challenge_id: str) -> pb.Challenge:
    answer = await server.ask("ChallengeService/GetChallenge", challenge_id=challenge_id)
    made: pb.Challenge = answer.challenge
    return made


@CLOSED
async def test_an_owner_challenges_with_its_bot(server: ServerInTest) -> None:
    """The one that is connected; colours alternate, and nothing of it is rated."""
    ada, bob = await owned(server, "ada", "eve"), await owned(server, "bob", "carl")
    made = await challenge(server, await server.token("owner", "carl"), settings=terms(2))
    assert (made.challenger, made.opponent, made.owner, made.mine) == ("bob", "ada", "carl", True)
    for black, white in ((bob, ada), (ada, bob)):
        await play_moves((black, white), FIVE)
        for peer in (black, white):
            await peer.ended()
    await server.until_finished(made.challenge_id)
    told = await found(server, made.challenge_id)
    assert (told.wins, told.draws, told.losses, told.finished_games) == (1, 0, 1, 2)
    assert not (await server.ask("TournamentService/ListTournaments")).tournaments
    listed = await server.ask("TournamentService/ListTournaments", with_challenges=True)
    assert [(each.ladder, each.settings.unrated) for each in listed.tournaments] == [("", True)]


@CLOSED
async def test_whose_challenges_a_bot_accepts(server: ServerInTest) -> None:
    """Its own owner's always; others' and people's as it says."""
    for name, owner in (("ada", "eve"), ("amy", "eve"), ("bob", "carl")):
        await owned(server, name, owner)
    eve, carl = [await server.token("owner", name) for name in ("eve", "carl")]
    person, _ = await guest(server)
    for policy, allowed in (
        ("none", {eve}),
        ("owners", {eve, carl}),
        ("anyone", {eve, carl, person}),
    ):
        await accept(server, "ada", policy)
        for token, challenger in ((eve, "amy"), (carl, "bob"), (person, "")):
            if token in allowed:
                made = await challenge(server, token, challenger=challenger)
                await server.ask(CANCEL, token, challenge_id=made.challenge_id)
            else:
                reason, _ = await refusal(server, token, challenger=challenger)
                assert reason == "NOT_ALLOWED"
    bots = (await server.ask("BotService/ListBots")).bots
    assert [bot.challenges for bot in bots if bot.name == "ada"] == [3]


@CLOSED
async def test_who_may_not_meet(server: ServerInTest) -> None:
    """Nobody with a bot of others, nor itself; both are there and able. The words say what to do."""
    await server.register("ada", "eve")
    await owned(server, "bob", "carl")
    await owned(server, "amy", "eve", opening_rules=(FREE, SWAP2))
    carl, swap2, endless = await server.token("owner", "carl"), terms(), terms()
    swap2.variant.opening_rule = game_pb2.OPENING_RULE_SWAP2
    endless.time_control.initial.seconds = 4 * 3600 + 1
    invalid: tuple[tuple[dict[str, Any], str], ...] = (
        ({"opponent": "bob"}, 'opponent: "bob" does not play itself'),
        ({"request_id": "x" * 61}, "request_id is longer than 60 characters"),
        ({"settings": terms(21)}, "games 21 is not between 1 and 20"),
        ({"settings": terms(openings=[b""] * 21)}, "openings: 21 of them; at most 20"),
        (
            {"settings": terms(openings=[b""], server_openings=True)},
            "openings: give some, or have the server's own, not both",
        ),
        (
            {"settings": terms(openings=[encode_moves(FIVE)])},
            f"openings: the opening {format_opening(FIVE, SMALL)} ends the game",
        ),
        ({"settings": endless}, "time_control: 4:00:01 is above 4:00:00"),
    )
    for fields, words in invalid:
        assert await refusal(server, carl, **fields) == ("INVALID_REQUEST", words)
    others: tuple[tuple[dict[str, Any], str, str], ...] = (
        ({"opponent": "bob", "challenger": "ada"}, "NOT_FOUND", 'you have no bot "ada"'),
        ({}, "WRONG_STATE", '"ada" is not connected'),
        (
            {"opponent": "amy", "settings": swap2},
            "WRONG_STATE",
            '"bob" does not play swap2 openings',
        ),
    )
    for fields, reason, words in others:
        assert await refusal(server, carl, **fields) == (reason, words)
    await owned(server, "ben", "carl")
    _, words = await refusal(server, carl)
    assert words.startswith("challenger: 2 bots of yours are connected; name the one")


@BUDGET
async def test_an_owner_has_a_budget(server: ServerInTest) -> None:
    """At once and in a day; what was taken back counts for the day."""
    await owned(server, "ada", "eve", max_games=9), await owned(server, "bob", "carl", max_games=9)
    carl = await server.token("owner", "carl")
    first = await challenge(server, carl, settings=terms(3))
    reason, words = await refusal(server, carl)
    assert reason == "QUOTA"
    assert "3 games of your challenges run or wait and these are 1, at most 3 at once" in words
    await server.ask(CANCEL, carl, challenge_id=first.challenge_id)
    _, words = await refusal(server, carl, settings=terms(2))
    assert words.startswith("your challenges may have 4 games in 24 hours; come back in 86")
    await challenge(server, carl)


@CLOSED
async def test_a_challenge_is_made_once_for_a_request(server: ServerInTest) -> None:
    """Of one caller: another with the same id makes its own."""
    await owned(server, "ada", "eve"), await owned(server, "bob", "carl")
    carl = await server.token("owner", "carl")
    once, again = [await challenge(server, carl, request_id="x") for _ in range(2)]
    assert once.challenge_id == again.challenge_id
    other = await challenge(server, None, challenger="bob", request_id="x")
    assert other.challenge_id != once.challenge_id


@CLOSED
async def test_a_challenge_is_taken_back(server: ServerInTest) -> None:
    """By who made it: its game is void, is not played again, and nobody resumes it."""
    ada, bob = await owned(server, "ada", "eve"), await owned(server, "bob", "carl")
    carl, eve = [await server.token("owner", name) for name in ("carl", "eve")]
    made = await challenge(server, carl, settings=terms(2))
    await play_moves((bob, ada), FIVE[:3])
    other = await server.refusal(CANCEL, eve, challenge_id=made.challenge_id)
    assert other.reason == "NOT_ALLOWED"
    gone = (await server.ask(CANCEL, carl, challenge_id=made.challenge_id)).challenge
    assert (gone.state, gone.running_games) == (3, 0)
    ended = await ada.ended()
    assert ended.outcome.ending == game_pb2.ENDING_VOID
    assert ended.outcome.detail == "the challenge was taken back"
    again = {"tournament_id": made.challenge_id, "state": "TOURNAMENT_STATE_RUNNING"}
    for method, fields in (
        (CANCEL, {"challenge_id": made.challenge_id}),
        ("TournamentService/UpdateTournament", again),
    ):
        end = await server.refusal(method, server.operator_token, **fields)
        assert end.reason == "WRONG_STATE"
    assert "taken back" not in str(await server.ask("FaultService/ListFaults"))


@CLOSED
async def test_a_person_plays_a_bot(server: ServerInTest) -> None:
    ada, token, zoe = await hosted(server)
    assert zoe.name.startswith("~zoe-")
    made = await challenge(server, token, settings=terms(colors="CHALLENGE_COLORS_WHITE"))
    assert (made.by_person, made.challenger, made.owner) == (True, zoe.name, "")
    await play_moves((ada, zoe), FIVE)
    assert (await zoe.ended()).outcome.winner == game_pb2.COLOR_BLACK
    await server.until_finished(made.challenge_id)
    mine = await server.ask("ChallengeService/ListChallenges", token, mine=True)
    assert [(each.losses, each.mine) for each in mine.challenges] == [(1, True)]


@CLOSED
async def test_people_are_no_bots(server: ServerInTest) -> None:
    """In no list unless asked for, in no tournament, and with no other rights."""
    await owned(server, "ada", "eve")
    token, zoe = await guest(server)
    for connected in (False, True):
        listed = await server.ask("BotService/ListBots", connected=connected)
        assert [bot.name for bot in listed.bots] == ["ada"]
        listed = await server.ask("BotService/ListBots", connected=connected, with_people=True)
        assert [bot.is_person for bot in listed.bots] == [False, True]
    settings = {"bots": ["ada", zoe.name], "time_control": CLOCK, "unrated": True}
    end = await server.refusal(
        "TournamentService/CreateTournament", server.operator_token, settings=settings
    )
    assert end.details == f'bots: "{zoe.name}" is a person, who plays challenges alone'
    for method, fields in (
        ("BotService/RegisterBot", {"name": "eve"}),
        ("BotService/ReportDoctor", {"name": zoe.name}),
        ("TokenService/ListTokens", {}),
    ):
        assert (await server.refusal(method, token, **fields)).reason == "NOT_ALLOWED"
    assert "TOKEN_KIND_PERSON" not in str(await server.ask("TokenService/ListTokens"))


@pytest.mark.parametrize("setting", [{"people": False}, {"reading": "token"}])
async def test_a_server_may_take_no_people(
    start_server: StartServer, setting: dict[str, Any]
) -> None:
    """A person's token is free for all: nobody reads as one what needs a token."""
    async with start_server(registration="closed", **setting) as server:
        end = await server.refusal("ChallengeService/EnterAsPerson")
        assert end.reason == "PEOPLE_OFF"


@pytest.mark.settings(registration="closed", people_games=3)
async def test_a_crowd_of_people_is_bounded(server: ServerInTest) -> None:
    """At once in all, of one person, of one address, and of those who come from it."""
    _, zoe, _ = await hosted(server, max_games=9)
    max_, _ = await guest(server)
    words = (await refusal(server, zoe, settings=terms(5)))[1]
    assert words.startswith("0 games of your challenges run or wait and these are 5, at most 4")
    for _ in range(2):
        await challenge(server, zoe)
    words = (await refusal(server, max_))[1]
    assert words == "2 people are playing from your address, the most; try again later"
    ends = [await server.refusal("ChallengeService/EnterAsPerson") for _ in range(20)]
    assert [end.reason for end in ends].count("BUSY") == 2
    assert "too many people came of late; come back in" in ends[-1].details


@pytest.mark.settings(registration="closed", people_games=3)
async def test_a_class_has_places_of_its_own(server: ServerInTest) -> None:
    """Who comes by its link counts for the class, and for the address where the link has ended."""
    await hosted(server, max_games=9)
    update = "ClassService/UpdateClass"
    await server.ask("ClassService/CreateClass", name="CS101")
    end = await server.refusal(update, server.operator_token, name="CS101", people=4)
    assert end.details == "people: 4 are more than this server's setting people_games, 3"
    key = (await server.ask(update, name="CS101", people=3)).school_class.play_key
    enter = "ChallengeService/EnterAsPerson"
    entered = [(await server.ask(enter, class_key=key)).token for _ in range(25)]
    for token in entered[:3]:
        await server.bot("", token=token)
        await challenge(server, token, class_key=key)
    await server.ask("ClassService/UpdateClass", name="CS101", people=0)
    renewed = (await server.ask(update, name="CS101", people=2)).school_class.play_key
    assert renewed != key
    await server.bot("", token=entered[3])
    words = (await refusal(server, entered[3], class_key=renewed))[1]
    assert words == "3 people are playing from CS101, the most; try again later"
    words = (await refusal(server, entered[3], class_key=key))[1]
    assert words == "3 people are playing here, the most; try again later"


@CLOSED
async def test_what_a_person_leaves_is_cleared_up(server: ServerInTest) -> None:
    """Its challenge when it does not come back; and the person itself if it has made none."""
    clear_up = server.parts.people.clear_up
    await owned(server, "ada", "eve", max_games=1)
    await owned(server, "bob", "eve")
    await accept(server, "ada", "anyone")
    await challenge(server, None, challenger="bob")  # takes ada's one place
    token, zoe = await guest(server)
    made = await challenge(server, token)
    zoe.call.cancel()
    await server.away(zoe.name)
    await clear_up(0)
    assert (await found(server, made.challenge_id)).state == 1
    await clear_up(AWAY.total_seconds())
    assert (await found(server, made.challenge_id)).state == 3


@CLOSED
async def test_a_person_gets_hints(server: ServerInTest) -> None:
    """From bots that play people, a few at a time."""
    ada = await owned(server, "ada", "eve", evaluates=True)
    token, _ = await guest(server)

    def ask(positions: int = 1, time_ms: int = 0) -> Any:
        position = analysis_pb.EvaluatedPosition(variant=variant_to_proto(SMALL))
        asked = {"bot": "ada", "positions": [position] * positions, "time_ms": time_ms}
        return server.watch("AnalysisService/Evaluate", token, **asked)

    end = await ending_of_call(ask())
    assert (end.reason, end.details) == (
        "NOT_ALLOWED",
        '"ada" does not play people, and gives no hints',
    )
    await accept(server, "ada", "anyone")
    for too_much in ({"positions": 5}, {"time_ms": 5001}):
        assert (await ending_of_call(ask(**too_much))).reason == "INVALID_REQUEST"
    call = ask()
    asked = await ada.asked()
    assert (await ending_of_call(ask())).reason == "TOO_MANY_STREAMS"
    await ada.evaluate(play_pb.Evaluation(evaluation=asked.evaluation, cell=12))
    assert (await call.read()).cell == 12


@CLOSED
async def test_who_has_challenged_nobody_is_forgotten(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the token; bots, and people whose games are kept, are not."""
    _, zoe, stream = await hosted(server)
    max_, _ = await guest(server)
    await challenge(server, zoe)
    monkeypatch.setattr(people, "IDLE", timedelta(days=-1))
    await server.parts.people.clear_up(0)
    listed = await server.ask("BotService/ListBots", with_people=True)
    assert [bot.name for bot in listed.bots] == ["ada", stream.name]
    assert (await server.refusal(CREATE, max_)).reason == "UNKNOWN_TOKEN"


async def placed(server: ServerInTest, challenge_id: str, **more: Any) -> tuple[int, int] | None:
    """How many begin before a challenge, and how many its opponent plays at once."""
    asked = {"challenge_id": challenge_id, **more}
    answer = await server.ask("ChallengeService/GetChallenge", **asked)
    place = answer.queue_place
    return (place.before, place.at_once) if answer.HasField("queue_place") else None


@CLOSED
async def test_people_queue_for_a_bot(server: ServerInTest) -> None:
    """First come, first served; who is away holds nobody up, and whose turn it is begins."""
    ada, zoe, _ = await hosted(server, max_games=2)
    others = [await guest(server) for _ in range(3)]
    first = await challenge(server, zoe)
    await ada.started()
    made = [await challenge(server, token) for token, _ in others]
    places = [await placed(server, each.challenge_id) for each in (first, *made)]
    assert places == [None, (0, 1), (1, 1), (2, 1)]
    await server.ask(CANCEL, others[1][0], challenge_id=made[1].challenge_id)
    assert await placed(server, made[2].challenge_id) == (1, 1)
    others[0][1].call.cancel()
    await server.away(others[0][1].name)
    assert await placed(server, made[2].challenge_id) == (0, 1)
    await server.ask(CANCEL, zoe, challenge_id=first.challenge_id)
    assert (await others[2][1].started()).opponent == "ada"
    assert (await found(server, made[0].challenge_id)).running_games == 0


@CLOSED
async def test_free_bots_are_told_to_who_waits(server: ServerInTest) -> None:
    """Those that accept anyone, can play the same, and have a place."""
    swap: dict[str, Any] = {"opening_rules": (FREE, SWAP2)}
    ada, zoe, _ = await hosted(server, max_games=1, **swap)
    for name, policy in (("bob", "anyone"), ("carl", "owners"), ("dora", "anyone")):
        await owned(server, name, "eve", **({} if name == "dora" else swap))
        await accept(server, name, policy)
    await challenge(server, zoe)
    await ada.started()
    token, _ = await guest(server, **swap)
    variant = variant_to_proto(replace(SMALL, opening_rule=SWAP2))
    wanted = pb.ChallengeSettings(games=1, variant=variant, time_control=CLOCK)
    made = await challenge(server, token, settings=wanted)
    asked = {"challenge_id": made.challenge_id}
    get = "ChallengeService/GetChallenge"
    assert list((await server.ask(get, **asked, with_free_bots=True)).free_bots) == ["bob"]
    assert not (await server.ask(get, **asked)).free_bots


@CLOSED
async def test_a_challenge_takes_the_place_of_another(server: ServerInTest) -> None:
    """The one that is played ends, and who waits for the same bot goes on waiting."""
    ada, zoe, _ = await hosted(server, max_games=1)
    token, max_ = await guest(server)
    first = await challenge(server, zoe)
    await ada.started()
    waiting = await challenge(server, token)
    reason, _ = await refusal(server, token, in_place_of=first.challenge_id)
    assert reason == "NOT_ALLOWED"
    second = await challenge(server, zoe, in_place_of=first.challenge_id)
    assert (await ada.ended()).outcome.ending == game_pb2.ENDING_VOID
    assert (await ada.started()).opponent != max_.name
    assert await placed(server, waiting.challenge_id) == (0, 1)
    assert (await found(server, first.challenge_id)).state == 3
    assert (await found(server, second.challenge_id)).running_games == 1


@CLOSED
async def test_no_request_replaces_the_challenge_of_somebody_else(server: ServerInTest) -> None:
    """Nor does one that is sent again: it finds what it has made, and takes nothing back."""
    ada, zoe, _ = await hosted(server, max_games=2)
    first = await challenge(server, zoe)
    await ada.started()
    token, _ = await guest(server)
    own = await challenge(server, token, request_id="again")
    again = await challenge(server, token, request_id="again", in_place_of=first.challenge_id)
    assert again.challenge_id == own.challenge_id
    assert (await found(server, first.challenge_id)).running_games == 1
