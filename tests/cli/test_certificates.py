"""`meijin certificate`: an authority of one's own, and what it signs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from typer.testing import CliRunner, Result

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.server.certificates import KeyPair


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder."""
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Result:
    """What the command does, which has to succeed."""
    return CliRunner().invoke(app, ["certificate", *words], catch_exceptions=False)


def certificate(name: str) -> x509.Certificate:
    """One that was written, with its key."""
    folder = Path("certificates")
    pair = KeyPair.read(folder / f"{name}.pem", folder / f"{name}-key.pem")
    return x509.load_pem_x509_certificate(pair.certificate)


def test_a_server() -> None:
    """Its certificate is for the names that are given, and for its own machine."""
    printed = run("arena.example.org", "10.0.0.1", "localhost", "--days=7").stdout
    made = certificate("server")
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["arena.example.org", "localhost"]
    addresses = map(str, names.get_values_for_type(x509.IPAddress))
    assert list(addresses) == ["10.0.0.1", "127.0.0.1", "::1"]
    left = made.not_valid_after_utc - datetime.now(UTC)
    assert timedelta(days=6) < left <= timedelta(days=7)
    assert "--certificate certificates/server.pem --key certificates/server-key.pem" in printed


def test_one_authority_signs_all() -> None:
    """It is made with the first certificate."""
    run()
    run("--client=ada")
    run("--client=bob")
    for name in ("server", "ada", "bob"):
        certificate(name).verify_directly_issued_by(certificate("ca"))


def test_keys_are_secret() -> None:
    """Nobody else on the machine reads them."""
    run()
    run("--client=ada")
    keys = list(Path("certificates").glob("*-key.pem"))
    assert len(keys) == 3
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}


@pytest.mark.parametrize("words", [(), ("--client=ada",), ("--client=ca",)])
def test_nothing_is_overwritten(words: tuple[str, ...]) -> None:
    """What is there stays."""
    run()
    run("--client=ada")
    before = {path: path.read_bytes() for path in Path("certificates").iterdir()}
    with pytest.raises(CommandError, match="exists; move it away, or give --folder"):
        run(*words)
    assert {path: path.read_bytes() for path in Path("certificates").iterdir()} == before


def test_half_an_authority() -> None:
    """Without its key it can't sign, and no other takes its place."""
    run()
    Path("certificates/ca-key.pem").unlink()
    with pytest.raises(CommandError, match=r"can't read certificates/ca-key.pem"):
        run("--client=ada")
