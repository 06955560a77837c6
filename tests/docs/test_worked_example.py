"""The worked example of the protocol is played against a real server, word by word."""

import queue
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.protobuf import text_format
from tests.docs.pages import page
from tests.docs.terminal import Terminal

from meijin.game import TimeControl, Variant
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.tournament_service_pb2 import CreateTournamentRequest, TournamentSettings
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire.values import time_control_to_proto, variant_to_proto

SECOND = "second"
SECOND_CELLS = {1: 0, 3: 1}
"""What the other bot plays at which ply."""
FIRST_IS_BLACK = 1
"""A seed."""
TIMEOUT = 60.0


class Conversation:
    """A bot's stream, one message after the other."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._requests: queue.SimpleQueue[pb.PlayRequest | None] = queue.SimpleQueue()
        self._responses: Iterator[pb.PlayResponse] = PlayServiceStub(channel).Play(
            iter(self._requests.get, None), timeout=TIMEOUT
        )

    def say(self, request: pb.PlayRequest) -> None:
        self._requests.put(request)

    def hear(self) -> pb.PlayResponse | None:
        """The next message; nothing at the stream's end. Later pings are left out."""
        for response in self._responses:
            if response.ping.sequence <= 1:
                return response
        self._requests.put(None)
        return None


@pytest.fixture
def channel(terminal: Terminal) -> Iterator[grpc.Channel]:
    terminal.type(page("docs/bots.md").command("meijin serve --open"))
    with grpc.insecure_channel(terminal.environment()["MEIJIN_SERVER"]) as channel:
        yield channel


Messages = list[pb.PlayRequest | pb.PlayResponse]


@pytest.fixture
def messages() -> Messages:
    kinds = {kind.DESCRIPTOR.name: kind for kind in (pb.PlayRequest, pb.PlayResponse)}
    return [
        text_format.Parse(fence.text, kinds[fence.title]())
        for fence in page("docs/protocol.md").fences
        if fence.language == "textproto"
    ]


def test_worked_example(channel: grpc.Channel, messages: Messages) -> None:
    """The server says what the page says it does, up to the name of the session."""
    with ThreadPoolExecutor(1) as pool:
        other = Conversation(channel)
        other.say(hello_of(messages, SECOND))
        assert other.hear()
        playing = pool.submit(play_second, other)
        first = Conversation(channel)
        for message in messages:
            if isinstance(message, pb.PlayRequest):
                first.say(message)
                if message.HasField("pong"):
                    create_tournament(channel)
                continue
            heard = first.hear()
            assert heard is not None
            if message.HasField("welcome"):
                assert heard.welcome.session_id
                heard.welcome.session_id = message.welcome.session_id
            take_charges(message, heard)
            assert heard == message
        assert first.hear() is None
        playing.result(TIMEOUT)


def take_charges(message: pb.PlayResponse, heard: pb.PlayResponse) -> None:
    """Times differ, but never is more charged than the answer took."""
    for shown, turn in zip(message.events.turns, heard.events.turns, strict=True):
        assert shown.HasField("charge") == turn.HasField("charge")
        for charge in (shown.charge, turn.charge):
            assert charge.raw_us >= charge.lag_us + charge.charged_us
        if turn.HasField("charge"):
            turn.charge.CopyFrom(shown.charge)


def hello_of(messages: Messages, name: str) -> pb.PlayRequest:
    request = pb.PlayRequest()
    assert isinstance(messages[0], pb.PlayRequest)
    request.CopyFrom(messages[0])
    request.hello.bot_name = name
    return request


def play_second(conversation: Conversation) -> None:
    while (response := conversation.hear()) is not None:
        for turn in response.events.turns:
            request = pb.PlayRequest()
            request.actions.plays.add(game=turn.game, ply=turn.ply, cell=SECOND_CELLS[turn.ply])
            conversation.say(request)
        if response.events.ended:
            conversation.say(pb.PlayRequest(goodbye=pb.Goodbye()))


def create_tournament(channel: grpc.Channel) -> None:
    settings = TournamentSettings(
        bots=["first", SECOND],
        rounds=1,
        variant=variant_to_proto(Variant.parse("3x3, 3 in a row")),
        time_control=time_control_to_proto(TimeControl.parse("1/move")),
        seed=FIRST_IS_BLACK,
    )
    TournamentServiceStub(channel).CreateTournament(
        CreateTournamentRequest(settings=settings), timeout=TIMEOUT
    )
