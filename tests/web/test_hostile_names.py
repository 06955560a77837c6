"""Hostile names and words of others: no page takes them for its own."""

from __future__ import annotations

from tests.web.addresses import PAGES
from tests.web.conftest import OpenSite

from meijin.testing.peer import bearer
from meijin.v1 import bot_service_pb2, game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.contract import PROTOCOL_VERSION

SCRIPT = "<script>alert(1)</script>"
BUTTON = '<b onclick="alert(2)">'
REVERSED = "\u202eevil\u2066"
FORBIDDEN = (SCRIPT, BUTTON, "\u202e", "\u2066", "\x07", "alert(3)>")


async def test_no_page_shows_what_is_hostile(open_site: OpenSite) -> None:
    """Names, labels, hardware, evidence and a bot's stack are escaped, and turn no text around."""
    async with open_site() as site:
        service = await site.server.bots()
        register = bot_service_pb2.RegisterBotRequest(name="ada", display_name=SCRIPT)
        token = (
            await service.RegisterBot(register, metadata=bearer(site.server.operator_token))
        ).token
        ada = await site.server.peer(token)
        hello = pb.Hello(
            protocol_version=PROTOCOL_VERSION,
            bot_name="ada",
            engine=pb.Engine(version=BUTTON, configuration=[f"a={REVERSED}\x07"]),
            capabilities=pb.Capabilities(min_board_size=5),
            hardware=f"{SCRIPT} {REVERSED} '\"><img src=x onerror=alert(3)>",
        )
        await ada.write(hello=hello)
        await ada.welcome()
        bob = await site.server.bot("bob")
        tournament = await site.server.tournament("ada", "bob", name=SCRIPT)
        started = await ada.started()
        failure = pb.Failure(game=started.game, message=f"{SCRIPT}{REVERSED}", traceback=BUTTON)
        await ada.write(actions=pb.Actions(failures=[failure]))
        assert (await bob.ended()).outcome.ending == game_pb2.ENDING_CRASH
        places = {"bot": "ada", "game": started.game_id, "tournament": tournament}
        visited = 0
        for form in (form for forms in PAGES.values() for form in forms):
            try:
                address = form.format_map(places)
            except KeyError:
                continue
            answer = await site.browse().get(address)
            assert answer.status == 200, (address, answer.text)
            found = [words for words in FORBIDDEN if words in answer.text]
            assert found == [], address
            visited += 1
        assert visited > 10
