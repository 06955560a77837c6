"""The page of the fault ledger."""

from __future__ import annotations

from tests.web.conftest import OpenSite

from meijin.v1 import fault_service_pb2 as pb
from meijin.web.fault_lines import KINDS, PARTIES, fault_lines, kind_label
from meijin.web.wording import text


async def test_ledger_is_filtered(open_site: OpenSite) -> None:
    """By what went wrong and by bot; the evidence is there."""
    async with open_site() as site:
        black, white = await site.server.pair(rounds=1)
        await black.fail((await black.turn()).game, "ValueError: <odd>")
        await white.ended()
        browsing = site.browse()
        page = (await browsing.get("/faults")).text
        assert "ValueError: &lt;odd&gt;" in page
        assert ">Evidence<" in page
        assert "ValueError" in (await browsing.get("/faults?kind=crash&bot=ada")).text
        assert "ValueError" not in (await browsing.get("/faults?kind=time")).text
        assert "ValueError" not in (await browsing.get("/faults?bot=bob")).text
        for wrong, status in (("kind=x", 400), ("bot=nobody", 404), ("page=x", 400)):
            assert (await browsing.get(f"/faults?{wrong}")).status == status


def test_all_kinds_and_parties_have_words() -> None:
    """And what a later release adds is said to be unknown."""
    assert all(kind_label(kind) for kind in KINDS)
    assert all(text(f"faults.party.{party}") for party in PARTIES.values())
    assert "unknown" in kind_label(pb.FAULT_KIND_UNSPECIFIED)


def test_evidence_is_written_as_it_is() -> None:
    """Whole numbers without a fraction, texts without quotes."""
    fault = pb.Fault(kind=pb.FAULT_KIND_TIME, party=pb.FAULT_PARTY_BOT)
    fault.evidence.update({"b_us": 12000.0, "a": "x", "c": [1.5, None]})
    (line,) = fault_lines([fault])
    assert line.evidence == (("a", "x"), ("b_us", "12,000"), ("c", "[1.5, null]"))
    assert (line.kind, line.party, line.ending) == ("time", "the bot", "")
