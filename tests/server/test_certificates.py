"""Certificates: made by an authority, written, and read by a server."""

import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from meijin.server.certificates import Authorities, Authority, KeyPair
from meijin.server.errors import CertificateError

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FORM = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
P_256 = ec.SECP256R1()
PLAIN = serialization.NoEncryption()
Key: TypeAlias = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey


@pytest.fixture(name="authority", scope="module")
def _authority() -> Authority:
    return Authority.make("trial", now=NOW, validity=10 * DAY)


@pytest.fixture(name="files")
def _files(authority: Authority, tmp_path: Path) -> tuple[Path, Path]:
    files = (tmp_path / "server.pem", tmp_path / "server-key.pem")
    authority.server_pair(["example.org", "10.0.0.1", "::1"], now=NOW, validity=DAY).write(*files)
    return files


def test_a_pair_is_read_as_written(files: tuple[Path, Path]) -> None:
    """With the day on which it ends; anybody may read the certificate, its owner the key."""
    pair = KeyPair.read(*files)
    assert (pair.certificate, pair.key) == (files[0].read_bytes(), files[1].read_bytes())
    assert pair.end == NOW + DAY
    assert stat.S_IMODE(files[1].stat().st_mode) == 0o600
    assert stat.S_IMODE(files[0].stat().st_mode) & 0o400


@pytest.mark.parametrize("kept", [0, 1])
def test_nothing_is_overwritten(authority: Authority, files: tuple[Path, Path], kept: int) -> None:
    """Where one of two files is there, neither is changed, and no half of a pair is left."""
    files[1 - kept].unlink()
    before = files[kept].read_bytes()
    with pytest.raises(FileExistsError):
        authority.client_pair("bob", now=NOW, validity=DAY).write(*files)
    assert files[kept].read_bytes() == before
    assert not files[1 - kept].exists()


def test_other_verifiers_take_the_chain(tmp_path: Path) -> None:
    """OpenSSL, told to be strict, finds the certificate good for its names alone."""
    now = datetime.now(UTC)
    fresh = Authority.make("fresh", now=now, validity=DAY)
    pair = (tmp_path / "fresh.pem", tmp_path / "fresh-key.pem")
    fresh.server_pair(["example.org"], now=now, validity=DAY).write(*pair)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(*pair)
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.verify_flags |= ssl.VERIFY_X509_STRICT
    trusting.load_verify_locations(cadata=fresh.pair.certificate.decode())
    shake_hands(serving, trusting, "example.org")
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(serving, trusting, "example.com")


def shake_hands(serving: ssl.SSLContext, trusting: ssl.SSLContext, name: str) -> None:
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = serving.wrap_bio(there, back, server_side=True)
    client = trusting.wrap_bio(back, there, server_hostname=name)
    waiting = [client, server]
    for _ in range(10):
        for side in list(waiting):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.remove(side)
    assert waiting == []


def test_an_authority_is_read_again(authority: Authority, tmp_path: Path) -> None:
    """And signs as before; a server's pair is none."""
    files = (tmp_path / "ca.pem", tmp_path / "ca-key.pem")
    authority.pair.write(*files)
    assert Authority.read(*files) == authority
    read = Authorities.read(files[0])
    assert read == Authorities(authority.pair.certificate, authority.pair.end)
    other = (tmp_path / "bob.pem", tmp_path / "bob-key.pem")
    authority.client_pair("bob", now=NOW, validity=DAY).write(*other)
    with pytest.raises(CertificateError, match="is no authority's certificate"):
        Authority.read(*other)


@pytest.mark.parametrize("name", ["", "a b", "grpcs://a", "a:7464", "größe", "-a", "*"])
def test_impossible_names(authority: Authority, name: str) -> None:
    """What no client will ever look for is refused."""
    with pytest.raises(ValueError, match="is no name of a host"):
        authority.server_pair([name], now=NOW, validity=DAY)


def pem(key: Key, password: bytes = b"") -> bytes:
    encryption = serialization.BestAvailableEncryption(password) if password else PLAIN
    return key.private_bytes(*FORM, encryption)


USELESS = {
    "no certificate": (0, None, r"can't read .*server.pem: No such file"),
    "no key": (1, None, r"can't read .*server-key.pem: No such file"),
    "garbage": (0, b"garbage", "server.pem holds no certificate in PEM"),
    "a garbage key": (1, b"garbage", "server-key.pem holds no private key in PEM"),
    "nothing": (0, b"", "server.pem holds no certificate in PEM"),
    "another's": (1, pem(ec.generate_private_key(P_256)), "is not the key of .*server.pem"),
    "Ed25519": (1, pem(ed25519.Ed25519PrivateKey.generate()), "no use for; give RSA, P-256"),
    "P-521": (1, pem(ec.generate_private_key(ec.SECP521R1())), "no use for; give RSA, P-256"),
    "password": (1, pem(ec.generate_private_key(P_256), b"x"), "has a password; give a key"),
}
"""In the place of the certificate or its key: also another's, and what no client of gRPC's takes."""


@pytest.mark.parametrize(("place", "content", "error"), USELESS.values(), ids=USELESS)
def test_useless_files(
    files: tuple[Path, Path], place: int, content: bytes | None, error: str
) -> None:
    """One line names the file and what is wrong with it."""
    files[place].unlink()
    if content is not None:
        files[place].write_bytes(content)
    with pytest.raises(CertificateError, match=error):
        KeyPair.read(*files)
