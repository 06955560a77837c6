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
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["certificate", *words], catch_exceptions=False)


def certificate(name: str) -> x509.Certificate:
    folder = Path("certificates")
    pair = KeyPair.read(folder / f"{name}.pem", folder / f"{name}-key.pem")
    return x509.load_pem_x509_certificate(pair.certificate)


def files() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path("certificates").iterdir()}


def test_a_server() -> None:
    printed = run("arena.example.org", "10.0.0.1", "localhost", "--days=7").stdout
    made = certificate("server")
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["arena.example.org", "localhost"]
    addresses = map(str, names.get_values_for_type(x509.IPAddress))
    assert list(addresses) == ["10.0.0.1", "127.0.0.1", "::1"]
    left = made.not_valid_after_utc - datetime.now(UTC)
    assert timedelta(days=6) < left <= timedelta(days=7)
    assert "--certificate certificates/server.pem --key certificates/server-key.pem" in printed


def test_one_authority_signs_all_and_keys_are_secret() -> None:
    run()
    run("--client=ada")
    run("--client=bob")
    for name in ("server", "ada", "bob"):
        certificate(name).verify_directly_issued_by(certificate("ca"))
    keys = list(Path("certificates").glob("*-key.pem"))
    assert len(keys) == 4
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}


@pytest.mark.parametrize("words", [(), ("--client=ada",), ("--client=ca",)])
def test_nothing_is_overwritten(words: tuple[str, ...]) -> None:
    run()
    run("--client=ada")
    before = files()
    with pytest.raises(CommandError, match="exists; move it away, or give --folder"):
        run(*words)
    assert files() == before


def test_half_an_authority() -> None:
    run()
    Path("certificates/ca-key.pem").unlink()
    with pytest.raises(CommandError, match=r"can't read certificates/ca-key.pem"):
        run("--client=ada")
