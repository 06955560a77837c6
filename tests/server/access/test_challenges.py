"""Challenges between bots, and those of people: who may make them, and how they are played."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from meijin.game import FREE, SWAP2, encode_moves
from meijin.server.access import people
from meijin.server.access.people import AWAY
from meijin.server.tournaments.run import run_of
from meijin.testing.desk import Desk
from meijin.testing.peer import Peer, bearer, ending_of_call, play_moves
from meijin.testing.server import FIVE, SMALL
from meijin.v1 import analysis_service_pb2 as analysis_pb
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.wire import variant_to_proto

Code = grpc.StatusCode
CLOSED = pytest.mark.settings(registration="closed")
BUDGET = pytest.mark.settings(registration="closed", challenge_games=3, challenge_games_a_day=4)
CLOCK = game_pb2.TimeControl(initial=Duration(seconds=600))
CREATE = "ChallengeService/CreateChallenge"
CANCEL = "ChallengeService/CancelChallenge"


def terms(games: int = 1, **more: Any) -> pb.ChallengeSettings:
    """Games on the small board."""
    return pb.ChallengeSettings(
        games=games, variant=variant_to_proto(SMALL), time_control=CLOCK, **more
    )


async def owned(desk: Desk, name: str, owner: str, **more: Any) -> Peer:
    """A connected bot of an owner."""
    return await desk.server.bot(name, token=await desk.bot(name, owner), **more)


async def accept(desk: Desk, name: str, policy: str) -> None:
    """Change whose challenges a bot accepts."""
    value = f"CHALLENGE_POLICY_{policy.upper()}"
    await desk.ask("BotService/UpdateBot", name=name, challenges=value)


async def challenge(desk: Desk, token: str | None, **fields: Any) -> pb.Challenge:
    """A challenge of ada's."""
    fields = {"opponent": "ada", "settings": terms(), **fields}
    made: pb.Challenge = (await desk.ask(CREATE, token, **fields)).challenge
    return made


async def refusal(desk: Desk, token: str | None, **fields: Any) -> tuple[Code, str, str]:
    """How one of ada's is refused."""
    fields = {"opponent": "ada", "settings": terms(), **fields}
    end = await desk.refusal(CREATE, token, **fields)
    return end.code, end.reason, end.details


async def guest(desk: Desk, **capabilities: Any) -> tuple[str, Peer]:
    """A person's token, and the stream of the person."""
    entered = await desk.ask("ChallengeService/EnterAsPerson", display_name="Zoë")
    return entered.token, await desk.server.bot("", token=entered.token, **capabilities)


async def found(desk: Desk, challenge_id: str) -> pb.Challenge:
    """A challenge as it is now."""
    answer = await desk.ask("ChallengeService/GetChallenge", challenge_id=challenge_id)
    made: pb.Challenge = answer.challenge
    return made


@CLOSED
async def test_an_owner_challenges_with_its_bot(desk: Desk) -> None:
    """The one that is connected; colours alternate, and nothing of it is rated."""
    ada, bob = await owned(desk, "ada", "eve"), await owned(desk, "bob", "carl")
    made = await challenge(desk, await desk.token("owner", "carl"), settings=terms(2))
    assert (made.challenger, made.opponent, made.owner, made.mine) == ("bob", "ada", "carl", True)
    for black, white in ((bob, ada), (ada, bob)):
        await play_moves((black, white), FIVE)
        for peer in (black, white):
            await peer.ended()
    await desk.server.until_finished(made.challenge_id)
    told = await found(desk, made.challenge_id)
    assert (told.wins, told.draws, told.losses, told.finished_games) == (1, 0, 1, 2)
    assert not (await desk.ask("TournamentService/ListTournaments")).tournaments
    listed = await desk.ask("TournamentService/ListTournaments", with_challenges=True)
    assert [(each.ladder, each.settings.unrated) for each in listed.tournaments] == [("", True)]


@CLOSED
async def test_whose_challenges_a_bot_accepts(desk: Desk) -> None:
    """Its own owner's always; others' and people's as it says."""
    (
        await owned(desk, "ada", "eve"),
        await owned(desk, "amy", "eve"),
        await owned(desk, "bob", "carl"),
    )
    eve, carl = [await desk.token("owner", name) for name in ("eve", "carl")]
    person, _ = await guest(desk)
    no = (Code.PERMISSION_DENIED, "NOT_ALLOWED")
    for policy, allowed in (
        ("none", {eve}),
        ("owners", {eve, carl}),
        ("anyone", {eve, carl, person}),
    ):
        await accept(desk, "ada", policy)
        for token, challenger in ((eve, "amy"), (carl, "bob"), (person, "")):
            if token in allowed:
                made = await challenge(desk, token, challenger=challenger)
                await desk.ask(CANCEL, token, challenge_id=made.challenge_id)
            else:
                assert (await refusal(desk, token, challenger=challenger))[:2] == no
    bots = (await desk.ask("BotService/ListBots")).bots
    assert [bot.challenges for bot in bots if bot.name == "ada"] == [3]


@CLOSED
async def test_nobody_challenges_with_a_bot_of_others(desk: Desk) -> None:
    """Nor itself; and the words name what to do."""
    await owned(desk, "ada", "eve"), await owned(desk, "bob", "carl")
    carl = await desk.token("owner", "carl")
    code, _, words = await refusal(desk, carl, opponent="bob", challenger="ada")
    assert (code, words) == (Code.NOT_FOUND, 'you have no bot "ada"')
    code, _, words = await refusal(desk, carl, opponent="bob")
    assert (code, words) == (Code.INVALID_ARGUMENT, 'opponent: "bob" does not play itself')
    await owned(desk, "ben", "carl")
    code, _, words = await refusal(desk, carl)
    assert words.startswith("challenger: 2 bots of yours are connected; name the one")


@CLOSED
async def test_both_are_there_and_able(desk: Desk) -> None:
    """Else one line says which is not, and why."""
    await desk.bot("ada", "eve")
    await owned(desk, "bob", "carl")
    carl = await desk.token("owner", "carl")
    code, reason, words = await refusal(desk, carl)
    assert (code, reason) == (Code.FAILED_PRECONDITION, "WRONG_STATE")
    assert words == '"ada" is not connected'
    await owned(desk, "amy", "eve", opening_rules=(FREE, SWAP2))
    swap2 = terms()
    swap2.variant.opening_rule = game_pb2.OPENING_RULE_SWAP2
    words = (await refusal(desk, carl, opponent="amy", settings=swap2))[2]
    assert words == '"bob" does not play swap2 openings'


@BUDGET
async def test_an_owner_has_a_budget(desk: Desk) -> None:
    """At once and in a day; what was taken back counts for the day."""
    await owned(desk, "ada", "eve", max_games=9), await owned(desk, "bob", "carl", max_games=9)
    carl = await desk.token("owner", "carl")
    first = await challenge(desk, carl, settings=terms(3))
    code, reason, words = await refusal(desk, carl)
    assert (code, reason) == (Code.RESOURCE_EXHAUSTED, "QUOTA")
    assert "3 games of your challenges run or wait and these are 1, at most 3 at once" in words
    await desk.ask(CANCEL, carl, challenge_id=first.challenge_id)
    code, reason, words = await refusal(desk, carl, settings=terms(2))
    assert words.startswith("your challenges may have 4 games in 24 hours; come back in 86")
    await challenge(desk, carl)


@CLOSED
async def test_a_challenge_is_made_once_for_a_request(desk: Desk) -> None:
    """Of one caller: another with the same id makes its own."""
    await owned(desk, "ada", "eve"), await owned(desk, "bob", "carl")
    carl = await desk.token("owner", "carl")
    once, again = [await challenge(desk, carl, request_id="x") for _ in range(2)]
    assert once.challenge_id == again.challenge_id
    other = await challenge(desk, None, challenger="bob", request_id="x")
    assert other.challenge_id != once.challenge_id


@CLOSED
async def test_a_challenge_is_taken_back(desk: Desk) -> None:
    """By who made it: its game is void, is not played again, and nobody resumes it."""
    ada, bob = await owned(desk, "ada", "eve"), await owned(desk, "bob", "carl")
    carl, eve = [await desk.token("owner", name) for name in ("carl", "eve")]
    made = await challenge(desk, carl, settings=terms(2))
    await play_moves((bob, ada), FIVE[:3])
    other = await desk.refusal(CANCEL, eve, challenge_id=made.challenge_id)
    assert (other.code, other.reason) == (Code.PERMISSION_DENIED, "NOT_ALLOWED")
    gone = (await desk.ask(CANCEL, carl, challenge_id=made.challenge_id)).challenge
    assert (gone.state, gone.running_games) == (3, 0)
    ended = await ada.ended()
    assert ended.outcome.ending == game_pb2.ENDING_VOID
    assert ended.outcome.detail == "the challenge was taken back"
    again = {"tournament_id": made.challenge_id, "state": "TOURNAMENT_STATE_RUNNING"}
    for method, fields in (
        (CANCEL, {"challenge_id": made.challenge_id}),
        ("TournamentService/UpdateTournament", again),
    ):
        end = await desk.refusal(method, desk.server.operator_token, **fields)
        assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "WRONG_STATE")
    assert "taken back" not in str(await desk.ask("FaultService/ListFaults"))


@CLOSED
async def test_a_person_plays_a_bot(desk: Desk) -> None:
    """By the stream that bots have, with a name that no bot can have."""
    ada = await owned(desk, "ada", "eve")
    await accept(desk, "ada", "anyone")
    token, zoe = await guest(desk)
    assert zoe.name.startswith("~zoe-")
    made = await challenge(desk, token, settings=terms(colors="CHALLENGE_COLORS_WHITE"))
    assert (made.by_person, made.challenger, made.owner) == (True, zoe.name, "")
    await play_moves((ada, zoe), FIVE)
    assert (await zoe.ended()).outcome.winner == game_pb2.COLOR_BLACK
    await desk.server.until_finished(made.challenge_id)
    mine = await desk.ask("ChallengeService/ListChallenges", token, mine=True)
    assert [(each.losses, each.mine) for each in mine.challenges] == [(1, True)]


@CLOSED
async def test_people_are_no_bots(desk: Desk) -> None:
    """In no list unless asked for, in no tournament, and with no other rights."""
    await owned(desk, "ada", "eve")
    token, zoe = await guest(desk)
    for connected in (False, True):
        listed = await desk.ask("BotService/ListBots", connected=connected)
        assert [bot.name for bot in listed.bots] == ["ada"]
        listed = await desk.ask("BotService/ListBots", connected=connected, with_people=True)
        assert [bot.is_person for bot in listed.bots] == [False, True]
    settings = {"bots": ["ada", zoe.name], "time_control": CLOCK, "unrated": True}
    end = await desk.refusal(
        "TournamentService/CreateTournament", desk.server.operator_token, settings=settings
    )
    assert end.details == f'bots: "{zoe.name}" is a person, who plays challenges alone'
    for method, fields in (
        ("BotService/RegisterBot", {"name": "eve"}),
        ("BotService/ReportDoctor", {"name": zoe.name}),
        ("TokenService/ListTokens", {}),
    ):
        assert (await desk.refusal(method, token, **fields)).code is Code.PERMISSION_DENIED
    assert "TOKEN_KIND_PERSON" not in str(await desk.ask("TokenService/ListTokens"))


async def test_an_open_tournament_takes_no_person(desk: Desk) -> None:
    """A ladder that everyone plays has the bots alone."""
    for name in ("ada", "bob"):
        await desk.server.bot(name)
    _, zoe = await guest(desk)
    ladder = await desk.server.tournament(format="TOURNAMENT_FORMAT_LADDER", rounds=0)
    await desk.server.until(lambda: desk.server.running)
    run = next(iter(desk.server.parts.scheduler.runs.values()))
    players = desk.server.parts.lobby.players
    found = await desk.server.parts.scheduler.capacity(run)
    names = {players[bot_id].name for bot_id in found.seats}
    assert (ladder, names, zoe.name in names) == (str(run.id), {"ada", "bob"}, False)


@CLOSED
async def test_a_move_is_taken_back(desk: Desk) -> None:
    """After a swap2 opening: the same stones, colours kept, with one or two fewer."""
    ada = await owned(desk, "ada", "eve", opening_rules=(FREE, SWAP2))
    await accept(desk, "ada", "anyone")
    token, zoe = await guest(desk, opening_rules=(FREE, SWAP2))
    swap2 = terms(colors="CHALLENGE_COLORS_BLACK")
    swap2.variant.opening_rule = game_pb2.OPENING_RULE_SWAP2
    made = await challenge(desk, token, settings=swap2)
    await zoe.place(await zoe.turn(), 0, 6, 12)
    await ada.choose(await ada.turn(), game_pb2.COLOR_BLACK)
    await zoe.play(await zoe.turn(), 7)
    await ada.turn()
    await desk.ask(CANCEL, token, challenge_id=made.challenge_id)
    await zoe.ended()
    before = encode_moves((0, 6, 12))
    await challenge(desk, token, settings=terms(colors="CHALLENGE_COLORS_WHITE", openings=[before]))
    started = await zoe.started()
    started = started if started.moves == before else await zoe.started()
    assert (started.moves, started.color) == (before, game_pb2.COLOR_WHITE)
    assert (await zoe.turn()).ply == 3


@CLOSED
async def test_a_game_starts_from_many_stones(desk: Desk) -> None:
    """As many as leave a cell."""
    ada = await owned(desk, "ada", "eve")
    await accept(desk, "ada", "anyone")
    token, zoe = await guest(desk)
    # Columns of two and rows of two: no five of a colour on 5x5.
    rows = ("xxoox", "ooxxo", "xxoox", "ooxxo", "xxoo")
    stones = "".join(rows)
    cells = {side: [at for at, each in enumerate(stones) if each == side] for side in "xo"}
    moves = [cells["xo"[ply % 2]].pop(0) for ply in range(len(stones))]
    await challenge(desk, token, settings=terms(openings=[encode_moves(moves)]))
    assert (await zoe.turn()).ply == 24
    over = encode_moves(FIVE)
    words = (await refusal(desk, token, settings=terms(openings=[over])))[2]
    assert words.startswith("openings: the opening")
    assert words.endswith("ends the game")
    assert ada.unread("notices") == 0


@pytest.mark.settings(registration="closed", people=False)
async def test_a_server_may_take_no_people(desk: Desk) -> None:
    """By a setting."""
    end = await desk.refusal("ChallengeService/EnterAsPerson", None)
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "PEOPLE_OFF")


@pytest.mark.settings(registration="closed", reading="token")
async def test_nobody_reads_as_a_person_what_needs_a_token(desk: Desk) -> None:
    """A person's token is free for all."""
    end = await desk.refusal("ChallengeService/EnterAsPerson", None)
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "PEOPLE_OFF")


@pytest.mark.settings(registration="closed", people_games=3)
async def test_a_crowd_of_people_is_bounded(desk: Desk) -> None:
    """At once in all, of one person, of one address, and of those who come from it."""
    await owned(desk, "ada", "eve", max_games=9)
    await accept(desk, "ada", "anyone")
    (zoe, _), (max_, _) = await guest(desk), await guest(desk)
    words = (await refusal(desk, zoe, settings=terms(5)))[2]
    assert words.startswith("0 games of your challenges run or wait and these are 5, at most 4")
    for _ in range(2):
        await challenge(desk, zoe)
    words = (await refusal(desk, max_))[2]
    assert words == "2 people are playing from your address, the most; try again later"
    ends = [await desk.refusal("ChallengeService/EnterAsPerson", None) for _ in range(20)]
    assert [end.code for end in ends].count(Code.RESOURCE_EXHAUSTED) == 2
    assert "too many people came of late; come back in" in ends[-1].details


@CLOSED
async def test_what_a_person_leaves_is_cleared_up(desk: Desk) -> None:
    """Its challenge when it does not come back; and the person itself if it has made none."""
    clear_up = desk.server.app.access.people.clear_up
    await owned(desk, "ada", "eve", max_games=1)
    await owned(desk, "bob", "eve")
    await accept(desk, "ada", "anyone")
    await challenge(desk, None, challenger="bob")  # takes ada's one place
    token, zoe = await guest(desk)
    made = await challenge(desk, token)
    zoe.call.cancel()
    await desk.server.away(zoe.name)
    await clear_up(0)
    assert (await found(desk, made.challenge_id)).state == 1
    await clear_up(AWAY.total_seconds())
    assert (await found(desk, made.challenge_id)).state == 3


@CLOSED
async def test_bots_keep_places_for_tournaments(desk: Desk) -> None:
    """Half of them."""
    ada = await owned(desk, "ada", "eve", max_games=4)
    for name in ("bob", "carl", "dora"):
        await owned(desk, name, "eve")
        await challenge(desk, None, challenger=name)
    await desk.server.until(lambda: len(desk.server.running) == 2)
    for _ in range(2):
        await ada.started()
    names = {game.first.name for game in desk.server.running}
    assert names < {"bob", "carl", "dora"}


@CLOSED
async def test_challenges_and_tournaments_take_turns(desk: Desk) -> None:
    """At a bot with a place for one game, whichever of the two was there first."""
    order: list[bool] = []
    desk.server.listen(ended=lambda game: order.append(run_of(game).format.IS_CASUAL))
    players = [await owned(desk, name, "eve") for name in ("ada", "bob", "carl")]
    made = await challenge(desk, None, challenger="bob", settings=terms(4))
    await desk.server.tournament(
        "ada", "carl", rounds=4, unrated=True, token=desk.server.operator_token
    )
    playing = [
        asyncio.create_task(peer.play_out(n)) for peer, n in zip(players, (8, 4, 4), strict=True)
    ]
    await asyncio.gather(*playing)
    await desk.server.until_finished(made.challenge_id)
    assert order == [True, False] * 4


@CLOSED
async def test_a_person_gets_hints(desk: Desk) -> None:
    """From bots that play people, a few at a time."""
    ada = await owned(desk, "ada", "eve", evaluates=True)
    token, _ = await guest(desk)
    service = await desk.server.analysis()

    def ask(positions: int = 1, time_ms: int = 0) -> Any:
        position = analysis_pb.EvaluatedPosition(variant=variant_to_proto(SMALL))
        request = analysis_pb.EvaluateRequest(
            bot="ada", positions=[position] * positions, time_ms=time_ms
        )
        return service.Evaluate(request, metadata=bearer(token))

    end = await ending_of_call(ask())
    assert (end.code, end.details) == (
        Code.PERMISSION_DENIED,
        '"ada" does not play people, and gives no hints',
    )
    await accept(desk, "ada", "anyone")
    for too_much in ({"positions": 5}, {"time_ms": 5001}):
        assert (await ending_of_call(ask(**too_much))).code is Code.INVALID_ARGUMENT
    call = ask()
    asked = await ada.asked()
    assert (await ending_of_call(ask())).code is Code.RESOURCE_EXHAUSTED
    await ada.evaluate(play_pb.Evaluation(evaluation=asked.evaluation, cell=12))
    assert (await call.read()).cell == 12


@CLOSED
async def test_who_has_challenged_nobody_is_forgotten(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the token; bots, and people whose games are kept, are not."""
    await owned(desk, "ada", "eve")
    await accept(desk, "ada", "anyone")
    (zoe, stream), (max_, _) = await guest(desk), await guest(desk)
    await challenge(desk, zoe)
    monkeypatch.setattr(people, "IDLE", timedelta(days=-1))
    await desk.server.app.access.people.clear_up(0)
    listed = await desk.ask("BotService/ListBots", with_people=True)
    assert [bot.name for bot in listed.bots] == ["ada", stream.name]
    end = await desk.refusal(CREATE, max_)
    assert end.code is Code.UNAUTHENTICATED
