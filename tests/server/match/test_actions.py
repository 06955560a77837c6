"""What judging a message costs at most, whatever is in it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import Board, Clock, Seat, TimeControl, Variant
from meijin.server.errors import TooManyActionsError, TooManyNoticesError
from meijin.server.match.actions import ActionHandler
from meijin.server.match.arbiter.arbiter import Arbiter
from meijin.server.match.arbiter.stalls import Moment, StallWatch
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.match.live.session import SPARE_ACTIONS, Session
from meijin.server.match.wire import command_from_proto, delivery_to_proto
from meijin.store.schema import BotId, BotVersionId
from meijin.v1 import play_service_pb2 as pb
from meijin.wire import Capabilities
from meijin.wire.contract import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from meijin.server.match.games import Games
    from meijin.server.match.journal.journal import Journal
    from meijin.server.match.live.commands import Actions

MAX_NOTICES = 100
MAX_ANSWER = 16 * 1024
GAMES = 3


class FakeGame:
    """A game at its first turn, played by the one player that there is."""

    def __init__(self, number: int, player: Participant) -> None:
        self.number = number
        self.first = player
        self.arbiter = Arbiter(
            Board(Variant(width=5, height=5)), Clock(TimeControl.parse("60")), grace_ns=0
        )
        self.arbiter.ask(Moment(0, 0))
        self.is_uncommitted = False
        self.analysis = None
        self.adjudicator = None

    def seat(self, _player: Participant) -> Seat:
        """The one whose turn it is, since the player has no other."""
        return self.arbiter.seat_to_act

    def is_played_by(self, _player: Participant, _version_id: BotVersionId) -> bool:
        """By nobody else."""
        return True


class Judging:
    """A session with games, and counters of what is done for its messages."""

    def __init__(self) -> None:
        player = Participant(BotId(1), "ada")
        self.games = {
            number: cast("LiveGame", FakeGame(number, player)) for number in range(1, GAMES + 1)
        }
        self.session = Session(
            "id",
            player,
            BotVersionId(1),
            Capabilities(),
            games=self.games,
            grace=timedelta(0),
            max_notices=MAX_NOTICES,
            moment=Moment(0, 0),
        )
        self.session.drain(Moment(0, 0))
        self.effects = 0
        this = cast("Any", self)
        self._handler = ActionHandler(
            cast("Games", this), cast("Journal", this), StallWatch(lambda: 0)
        )

    def send(self, actions: pb.Actions) -> bool:
        """Have a message judged as the stream does; whether it had an effect."""
        data = pb.PlayRequest(actions=actions).SerializeToString()
        assert len(data) <= MAX_MESSAGE_BYTES
        session = self.session
        command = command_from_proto(
            pb.PlayRequest.FromString(data), len(session.games) + session.spare_actions
        )
        said = cast("Actions", command)
        return self._handler.judge(session, said, self._handler.hear(session, said))

    def answer(self) -> int:
        """The bytes that are sent back now."""
        delivery = self.session.drain(Moment(0, 0))
        return sum(m.ByteSize() for m in delivery_to_proto(delivery, self.session.player))

    # As the games and the journal:

    def end(self, game: LiveGame) -> None:
        """A game is over."""
        self.effects += 1
        del self.games[game.number]

    def add_moves(self, moves: Any) -> None:
        """Moves were made."""
        self.effects += len(list(moves))

    def add_analysis(self, *_thoughts: object) -> None:
        """A bot said what it thought."""

    def wake(self) -> None:
        """There is something to commit."""


numbers = st.integers(0, GAMES + 2)
plays = st.builds(
    pb.Play, game=numbers, ply=st.integers(0, 3), cell=st.sampled_from([0, 1, 24, 25, 2**32 - 1])
)
failures = st.builds(pb.Failure, game=numbers, message=st.sampled_from(["", "é" * 5_000, "\0[/]"]))
messages = st.builds(
    pb.Actions,
    plays=st.lists(plays, max_size=80),
    resigns=st.lists(st.builds(pb.Resign, game=numbers), max_size=80),
    failures=st.lists(failures, max_size=10),
)


@given(st.lists(messages, max_size=8))
async def test_any_messages_cost_bounded_work(sequence: list[pb.Actions]) -> None:
    """Whatever is sent: few effects, few notices, a small answer; beyond that the stream ends."""
    judging = Judging()
    session = judging.session
    for message in sequence:
        before = session.refused
        try:
            judging.send(message)
        except TooManyActionsError:
            assert session.refused == before
        assert session.refused - before <= GAMES + SPARE_ACTIONS
        assert judging.answer() < MAX_ANSWER
        if session.closed.done():
            break
    assert judging.effects <= GAMES + 25 * GAMES
    assert session.refused <= MAX_NOTICES + session.effective_messages + 1


async def test_a_message_of_nothing_but_nonsense_is_not_judged() -> None:
    """A hundred thousand empty moves are counted, and that is all."""
    judging = Judging()
    for kind, make in (("plays", pb.Play), ("resigns", pb.Resign), ("failures", pb.Failure)):
        message = pb.Actions()
        getattr(message, kind).extend([make()] * 60_000)
        with pytest.raises(TooManyActionsError):
            judging.send(message)
    assert judging.session.refused == 0
    assert judging.answer() == 0


async def test_judging_stops_at_the_first_notice_above_the_limit() -> None:
    """What comes behind it is neither answered nor obeyed."""
    judging = Judging()
    wrong, right = pb.Play(game=99), pb.Play(game=1, cell=12)
    while judging.session.refused + SPARE_ACTIONS <= MAX_NOTICES:
        assert not judging.send(pb.Actions(plays=[wrong] * SPARE_ACTIONS))
    rest = MAX_NOTICES - judging.session.refused
    resigns = [pb.Resign(game=2)]
    judging.send(pb.Actions(plays=[wrong] * (rest + 1) + [right] + [wrong] * 20, resigns=resigns))
    assert isinstance(judging.session.closed.result(), TooManyNoticesError)
    assert judging.session.refused == MAX_NOTICES + 1
    assert judging.effects == 0
    assert judging.answer() < MAX_ANSWER


async def test_a_message_has_an_effect_by_one_good_action() -> None:
    """Whether a move, a resignation or a failure; nothing at all has none."""
    judging = Judging()
    assert not judging.send(pb.Actions())
    assert not judging.send(pb.Actions(plays=[pb.Play(game=9)], resigns=[pb.Resign(game=9)]))
    assert judging.send(pb.Actions(plays=[pb.Play(game=9), pb.Play(game=1, cell=12)]))
    assert judging.send(pb.Actions(resigns=[pb.Resign(game=9), pb.Resign(game=2)]))
    assert judging.send(pb.Actions(failures=[pb.Failure(game=3)]))
    assert judging.session.effective_messages == judging.effects == 3
