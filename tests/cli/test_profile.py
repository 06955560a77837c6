import json
from pathlib import Path

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.profile import Profile, profile_path, read_profile, write_profile
from meijin.wire.contract import DEFAULT_SERVER

KEPT = Profile("arena:7464", Path("/ca.pem"), token="secret")


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_profile_comes_back_as_it_was() -> None:
    assert read_profile() == Profile()
    path = write_profile(KEPT)
    assert read_profile() == KEPT
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_several_are_told_apart_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    write_profile(KEPT)
    monkeypatch.setenv("MEIJIN_PROFILE", "other")
    assert read_profile() == Profile()


@pytest.mark.parametrize("given", [Profile(), Profile("arena:7464")])
def test_what_is_not_given_is_the_profiles(given: Profile) -> None:
    assert given.over(KEPT) == KEPT


def test_what_is_given_takes_its_place() -> None:
    """An empty token too: it shows none."""
    given = Profile(token="", plaintext=True, ca=Path("/other.pem"))
    assert given.over(KEPT) == Profile("arena:7464", Path("/other.pem"), plaintext=True, token="")


def test_a_token_is_shown_to_no_other_server() -> None:
    assert Profile("elsewhere:7464").over(KEPT) == Profile("elsewhere:7464")


def test_without_any_this_machine_is_asked() -> None:
    assert Profile().over(Profile()).endpoint.address == DEFAULT_SERVER


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"no_such": 1})])
def test_a_damaged_file_is_told_in_a_line(text: str) -> None:
    profile_path().parent.mkdir()
    profile_path().write_text(text)
    with pytest.raises(CommandError, match="is damaged; remove it, and log in anew"):
        read_profile()
