"""What judging a message costs at most, whatever is in it."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from tests.server.rows import live_game, open_session

from meijin.game.arbiter.moment import Moment
from meijin.server.errors import TooManyActionsError, TooManyNoticesError
from meijin.server.match.actions import ActionHandler
from meijin.server.match.live.commands import Actions
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.session import SPARE_ACTIONS
from meijin.server.match.stalls import StallWatch
from meijin.server.match.wire import command_from_proto, delivery_to_proto
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.capabilities import Capabilities
from meijin.wire.contract import MAX_MESSAGE_BYTES

MAX_NOTICES = 100
MAX_ANSWER = 16 * 1024
GAMES = 3


class Judging:
    """A session with games, and counters of what is done for its messages."""

    def __init__(self) -> None:
        self.games: dict[int, LiveGame] = {}
        self.session = open_session(self.games, max_notices=MAX_NOTICES)
        for number in range(1, GAMES + 1):
            self.games[number] = live_game(number, first=self.session.player)
            self.games[number].arbiter.ask(Moment(0, 0))
        self.effects = 0
        self.announced: list[object] = []
        this = cast("Any", self)
        self._handler = ActionHandler(this, this, StallWatch(lambda: 0))

    def send(self, **actions: Any) -> bool:
        """Have a message judged as the stream does; whether it had an effect."""
        data = pb.PlayRequest(actions=pb.Actions(**actions)).SerializeToString()
        assert len(data) <= MAX_MESSAGE_BYTES
        session = self.session
        request = pb.PlayRequest.FromString(data)
        said = command_from_proto(request, len(session.games) + session.spare_actions)
        assert isinstance(said, Actions)
        return self._handler.judge(session, said, self._handler.hear(session, said))

    def answer(self) -> int:
        delivery = self.session.drain(Moment(0, 0))
        return sum(m.ByteSize() for m in delivery_to_proto(delivery, self.session.player))

    # As the games and the journal:

    def end(self, game: LiveGame) -> None:
        self.effects += 1
        del self.games[game.number]

    def announce_room(self, player: object) -> None:
        self.announced.append(player)

    def add_moves(self, moves: Any) -> None:
        self.effects += len(list(moves))


numbers = st.integers(0, GAMES + 2)
plays = st.builds(
    pb.Play, game=numbers, ply=st.integers(0, 3), cell=st.sampled_from([0, 1, 24, 25, 2**32 - 1])
)
failures = st.builds(pb.Failure, game=numbers, message=st.sampled_from(["", "é" * 5_000, "\0[/]"]))
messages = st.fixed_dictionaries(
    {
        "plays": st.lists(plays, max_size=80),
        "resigns": st.lists(st.builds(pb.Resign, game=numbers), max_size=80),
        "failures": st.lists(failures, max_size=10),
    }
)


@given(st.lists(messages, max_size=8))
async def test_any_messages_cost_bounded_work(sequence: list[dict[str, Any]]) -> None:
    """Whatever is sent: few effects, few notices, a small answer; beyond that the stream ends."""
    judging = Judging()
    session = judging.session
    for message in sequence:
        before = session.refused
        try:
            judging.send(**message)
        except TooManyActionsError:
            assert session.refused == before
        assert session.refused - before <= GAMES + SPARE_ACTIONS
        assert judging.answer() < MAX_ANSWER
        if session.closed.done():
            break
    assert judging.effects <= GAMES + 25 * GAMES
    assert session.refused <= MAX_NOTICES + session.effective_messages + 1


async def test_judging_stops_at_the_first_notice_above_the_limit() -> None:
    """What comes behind it is neither answered nor obeyed."""
    judging = Judging()
    wrong, right = pb.Play(game=99), pb.Play(game=1, cell=12)
    while judging.session.refused + SPARE_ACTIONS <= MAX_NOTICES:
        assert not judging.send(plays=[wrong] * SPARE_ACTIONS)
    rest = MAX_NOTICES - judging.session.refused
    resigns = [pb.Resign(game=2)]
    judging.send(plays=[wrong] * (rest + 1) + [right] + [wrong] * 20, resigns=resigns)
    assert isinstance(judging.session.closed.result(), TooManyNoticesError)
    assert judging.session.refused == MAX_NOTICES + 1
    assert judging.effects == 0
    assert judging.answer() < MAX_ANSWER


async def test_a_message_has_an_effect_by_one_good_action() -> None:
    """Whether a move, a resignation or a failure; nothing at all has none."""
    judging = Judging()
    wrong, resign = pb.Play(game=9), pb.Resign(game=9)
    assert not judging.send()
    assert not judging.send(plays=[wrong], resigns=[resign])
    assert judging.send(plays=[wrong, pb.Play(game=1, cell=12)])
    assert judging.send(resigns=[resign, pb.Resign(game=2)])
    assert judging.send(failures=[pb.Failure(game=3)])
    assert judging.session.effective_messages == judging.effects == 3


async def test_places_of_ended_games() -> None:
    """A bot that announces its readiness takes no other game before; nothing else makes room."""
    judging = Judging()
    session = judging.session
    session.capabilities = Capabilities(max_games=GAMES + 1)
    session.lose_place()
    assert session.room == 1
    session.capabilities = Capabilities(max_games=GAMES + 1, announces_readiness=True)
    session.lose_place()
    assert session.room == 0
    assert judging.send(ready=5)
    assert (session.room, judging.announced) == (1, [session.player])
    assert not judging.send(ready=5)
    assert (session.room, len(judging.announced)) == (1, 1)
