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


def test_profile_comes_back_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone for its owner; several are told apart by a variable."""
    assert read_profile() == Profile()
    path = write_profile(KEPT)
    assert read_profile() == KEPT
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    monkeypatch.setenv("MEIJIN_PROFILE", "other")
    assert read_profile() == Profile()


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (Profile(), KEPT),
        (Profile("arena:7464"), KEPT),
        (
            Profile(token="", plaintext=True, ca=Path("/other.pem")),
            Profile("arena:7464", Path("/other.pem"), plaintext=True, token=""),
        ),
        (Profile("elsewhere:7464"), Profile("elsewhere:7464")),
    ],
)
def test_what_is_not_given_is_the_profiles(given: Profile, meant: Profile) -> None:
    """But nothing of it is for another server, least of all the token."""
    assert given.over(KEPT) == meant
    assert Profile().over(Profile()).endpoint.address == DEFAULT_SERVER


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"no_such": 1})])
def test_a_damaged_file_is_told_in_a_line(text: str) -> None:
    profile_path().parent.mkdir()
    profile_path().write_text(text)
    with pytest.raises(CommandError, match="is damaged; remove it, and log in anew"):
        read_profile()
