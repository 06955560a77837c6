from typing import Any

import pytest

from meijin.cli.access.admin import act_text, change_text
from meijin.v1.admin_service_pb2 import Act


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (
            {"state": "active", "name": "a"},
            {"state": "banned", "name": "a"},
            "state active → banned",
        ),
        (
            {"reason": "", "hidden": True},
            {"reason": "x", "hidden": False},
            'reason "" → x, hidden true → false',
        ),
        ({}, {"owner": "ada", "quota": 3}, "owner ada, quota 3"),
        ({"label": "night"}, {}, "label was night"),
        ({"name": "a"}, {"name": "a"}, ""),
    ],
)
def test_a_line_tells_what_changed(
    before: dict[str, Any], after: dict[str, Any], text: str
) -> None:
    act = Act()
    act.before.update(before)
    act.after.update(after)
    assert sorted(change_text(act).split(", ")) == sorted(text.split(", "))


def test_a_change_is_one_line() -> None:
    act = Act(kind="owner", actor="ada", token_id="2", action="show", subject="bot b")
    act.peer = "ipv6:%5B::1%5D:5001"
    act.before.update({"hidden": True})
    act.after.update({"hidden": False})
    assert act_text(act) == (
        "1970-01-01 00:00:00  owner ada (token 2, [::1])  show bot b: hidden true → false"
    )
    act = Act(kind="anyone", action="make", subject="owner ada", peer="unix:")
    assert act_text(act) == "1970-01-01 00:00:00  anyone (unix:)  make owner ada"
