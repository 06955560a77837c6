"""Every text that people read stands in one place, and no other does."""

import re
from pathlib import Path

from meijin.web.templating import FOLDER
from meijin.web.wording import text, wording

PACKAGE = FOLDER.parent
CALL = re.compile(r"""(?<![.\w])(?:t|text|label)\(\s*f?"([a-z0-9_.]+)(?:"(\s*[+~])?|\{)""")
FORMS = ("one", "other")
TEMPLATES = sorted(FOLDER.rglob("*.html"))
"""Those of pages; feeds and pictures hold no words of ours but by `t`."""


def used() -> tuple[set[str], set[str]]:
    """The keys that are asked for, and the beginnings of those that are put together."""
    keys: set[str] = set()
    beginnings: set[str] = set()
    for path in (*TEMPLATES, *FOLDER.rglob("*.xml"), *PACKAGE.rglob("*.py")):
        for key, rest in CALL.findall(path.read_text(encoding="utf-8")):
            is_whole = key in wording() and not rest
            (keys if is_whole else beginnings).add(key)
    return keys, beginnings


def test_every_text_that_is_asked_for_is_there() -> None:
    _, beginnings = used()
    for beginning in beginnings:
        assert any(key.startswith(beginning) for key in wording()), beginning


def test_every_text_is_asked_for() -> None:
    """None is left of a page that is gone."""
    keys, beginnings = used()
    rest = wording().keys() - keys
    assert {key for key in rest if not key.startswith(tuple(beginnings))} == set()


def test_forms_of_one_and_of_many_are_of_one_text() -> None:
    """They have the same values, but that the one may leave the count out."""
    keys = {form: {key.removesuffix(form) for key in wording()} for form in (".one", ".other")}
    many = {key for key in keys[".one"] & keys[".other"] if key not in wording()}
    assert "tournament.running" in many
    for key in many:
        one, other = [set(re.findall(r"\{(\w+)", wording()[f"{key}.{form}"])) for form in FORMS]
        assert one | {"n"} == other | {"n"}, key
    assert text("tournament.running", n=1) == "1 game running"
    assert text("tournament.running", n=2000) == "2,000 games running"
    assert text("ladders.elo", n=1) == "1 Elo"


def test_templates_hold_no_words() -> None:
    """What people read comes from the files of strings."""
    for path in TEMPLATES:
        assert words_of(path) == [], path.relative_to(FOLDER)


def words_of(path: Path) -> list[str]:
    """The words of a template outside of tags, comments and expressions."""
    source = path.read_text(encoding="utf-8")
    for mark in (
        r"\{#.*?#\}",
        r"\{%.*?%\}",
        r"\{\{.*?\}\}",
        r"<(script|style|code|pre|textarea)\b.*?</\1>",
        r"<[^>]*>",
    ):
        source = re.sub(mark, " ", source, flags=re.DOTALL)
    return re.findall(r"[A-Za-z]{2,}", re.sub(r"&\w+;", " ", source))


def test_templates_hold_nothing_inline() -> None:
    """The policy for browsers would drop styles, scripts and handlers in a page."""
    for path in TEMPLATES:
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", source), path
        for tag in re.findall(r"<script\b[^>]*>", source):
            assert "src=" in tag or 'type="application/json"' in tag, (path, tag)
