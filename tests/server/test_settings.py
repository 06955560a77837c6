"""What a server is told when it starts."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import make_url

from meijin.game import TIME_CLASSES, TimeClasses
from meijin.server.settings import Reading, Registration, Settings
from meijin.store import Durability

OPEN_TO_ALL = {
    "listen": "0.0.0.0:7464",
    "plaintext": True,
    "registration": "open",
    "open_to_network": True,
}
"""Whatever has to be asked for by name."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start in a folder without a settings file and without any in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"MEIJIN_{name.upper()}", raising=False)


def test_the_defaults_are_safe() -> None:
    """Nobody plays without a token, and no acknowledged move is lost to a power cut."""
    settings = Settings()
    assert settings.durability is Durability.POWER
    assert settings.registration is Registration.CLOSED
    assert not settings.is_open
    assert settings.listen.startswith("127.0.0.1:")


def test_arguments_come_before_the_environment_before_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each place overrides the next."""
    Path("meijin.env").write_text("MEIJIN_GRACE=PT1S\nMEIJIN_DRAIN=PT2S\nMEIJIN_MAX_NOTICES=3\n")
    monkeypatch.setenv("MEIJIN_GRACE", "PT4S")
    monkeypatch.setenv("MEIJIN_DRAIN", "PT0.5S")
    settings = Settings(grace=timedelta(seconds=6))
    assert settings.grace == timedelta(seconds=6)
    assert settings.drain == timedelta(milliseconds=500)
    assert settings.max_notices == 3


def test_classes_of_time_control_are_read_as_they_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the environment too, where other lists would be JSON."""
    assert Settings().time_classes == TIME_CLASSES
    monkeypatch.setenv("MEIJIN_TIME_CLASSES", "quick=60,slow")
    assert Settings().time_classes == TimeClasses.parse("quick=60,slow")
    with pytest.raises(ValidationError, match="the bounds must rise"):
        Settings.model_validate({"time_classes": "quick=2,quicker=1,slow"})


def test_values_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enums by their values; durations as plain seconds, or in the standard's form."""
    for name, value in (
        ("DURABILITY", "process"),
        ("REGISTRATION", "invitation"),
        ("READING", "token"),
        ("GRACE", "1.5"),
        ("DRAIN", "PT2M"),
    ):
        monkeypatch.setenv(f"MEIJIN_{name}", value)
    settings = Settings()
    assert settings.durability is Durability.PROCESS
    assert settings.registration is Registration.INVITATION
    assert settings.reading is Reading.TOKEN
    assert (settings.grace, settings.drain) == (timedelta(seconds=1.5), timedelta(minutes=2))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEIJIN_GRACE", "-PT1S"),
        ("MEIJIN_KEEPALIVE", "PT0S"),
        ("MEIJIN_WRITE_TIMEOUT", "PT0S"),
        ("MEIJIN_SWEEP", "PT0S"),
        ("MEIJIN_MAX_NOTICES", "0"),
        ("MEIJIN_MAX_MESSAGE_BYTES", "0"),
        ("MEIJIN_GRACE", "soon"),
        ("MEIJIN_GRACE", "nan"),
        ("MEIJIN_DURABILITY", "none"),
        ("MEIJIN_REDIS_URL", "http://localhost"),
        ("MEIJIN_TRACES", "ftp://127.0.0.1:4317"),
        ("MEIJIN_TRACES", "http://"),
        ("MEIJIN_WEB_URL", "arena.example"),
        ("MEIJIN_WEB", "localhost"),
    ],
)
def test_impossible_settings_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """The error names the setting."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError, match=name.removeprefix("MEIJIN_").lower()):
        Settings()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"listen": "0.0.0.0:7464"}, "without TLS tokens can be read .* --certificate and --key"),
        ({"listen": "[::]:7464"}, "without TLS"),
        ({"listen": "arena.example.org:7464"}, "without TLS"),
        ({"listen": "0.0.0.0:7464", "open_to_network": True}, "without TLS"),
        (OPEN_TO_ALL | {"open_to_network": False}, "everybody there is an operator"),
        (OPEN_TO_ALL | {"plaintext": False}, "without TLS"),
        ({"certificate": "server.pem"}, "certificate and key go together"),
        ({"key": "server-key.pem"}, "certificate and key go together"),
        ({"client_ca": "ca.pem"}, "client_ca is for TLS; give certificate and key too"),
        ({"web": "0.0.0.0:8080"}, "other machines reach 0.0.0.0:8080, and without TLS"),
        ({"registration": "open", "reading": "token"}, "leave out either --open or --reading"),
        ({"database_url": "postgresql://x", "backup_every": "60"}, "have a timer run pg_dump"),
    ],
)
def test_other_machines_are_let_in_on_purpose(given: dict[str, Any], error: str) -> None:
    """Without a word of their own neither plain text nor open registration leaves this machine."""
    with pytest.raises(ValidationError, match=error):
        Settings(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"listen": "unix:/run/meijin.sock", "registration": "open"},
        {"listen": "[::1]:7464", "registration": "open"},
        {"listen": "127.0.0.1:65535"},
        {"listen": "0.0.0.0:7464", "certificate": "server.pem", "key": "server-key.pem"},
        {"listen": "0.0.0.0:7464", "plaintext": True},
        OPEN_TO_ALL,
    ],
)
def test_what_may_be_listened_on(given: dict[str, Any]) -> None:
    """This machine alone, others by TLS, and what was asked for by name."""
    assert Settings(**given).listen == given["listen"]


@pytest.mark.parametrize("listen", ["127.0.0.1:65536", "127.0.0.1", "localhost:http", ":7464", ""])
def test_what_can_not_be_listened_on(listen: str) -> None:
    """A port that gRPC would take for another, or none."""
    with pytest.raises(ValidationError, match="HOST:PORT, with a port up to 65535, or unix:PATH"):
        Settings(listen=listen)


def test_an_unknown_name_in_the_file_is_refused() -> None:
    """A misspelt setting is no silent default."""
    Path("meijin.env").write_text("MEIJIN_GRAZE=PT1S\n")
    with pytest.raises(ValidationError, match="graze"):
        Settings()


@pytest.mark.parametrize("folder", ["somewhere", "50% of a ?", "a#b", "a%20b", "größe"])
def test_any_folder_may_hold_the_database(folder: str) -> None:
    """What means something in a URL means nothing in a path, which is absolute for workers."""
    url = make_url(Settings(data=Path(folder)).database)
    assert (url.drivername, url.database) == ("sqlite", str(Path.cwd() / folder / "meijin.db"))
    other = "postgresql+psycopg://localhost/meijin"
    assert Settings(database_url=other).database == other
