"""How a client makes its connection safe, and what a failed one is told as."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from tests.authority import AuthorityFiles

from meijin.wire.channel import Security, handshake_failure
from meijin.wire.contract import Address, parse_address

HERE = Address("127.0.0.1:7464")
PROGRAM = """
import sys
from meijin.wire.channel import Security
try:
    Security(client_certificate=sys.argv[1], client_key=sys.argv[2]).credentials()
except ValueError as error:
    print(error)
"""
"""In a terminal, a library could ask for a password."""


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables say what the options of commands do."""
    assert Security.from_environment() == Security()
    monkeypatch.setenv("MEIJIN_CA", "ca.pem")
    monkeypatch.setenv("MEIJIN_CLIENT_CERTIFICATE", "ada.pem")
    monkeypatch.setenv("MEIJIN_CLIENT_KEY", "ada-key.pem")
    monkeypatch.setenv("MEIJIN_PLAINTEXT", "True")
    files = (Path("ca.pem"), Path("ada.pem"), Path("ada-key.pem"))
    assert Security.from_environment() == Security(*files, plaintext=True)
    for other in ("", "0", "false", "no"):
        monkeypatch.setenv("MEIJIN_PLAINTEXT", other)
        assert not Security.from_environment().plaintext


@pytest.mark.parametrize(
    "server",
    ["localhost", "127.0.0.1:80", "unix:/run/arena", "grpcs://example.org", "grpc://[::1]"],
)
def test_where_a_token_may_go(server: str) -> None:
    """To this machine, and to others by TLS."""
    Security().check_token(parse_address(server), "secret")


@pytest.mark.parametrize("server", ["example.org", "grpc://10.0.0.1", "0.0.0.0:7464"])
def test_where_a_token_may_not_go(server: str) -> None:
    """To other machines in plain text, unless that is allowed, or there is none."""
    address = parse_address(server)
    with pytest.raises(ValueError, match=r"write grpcs://\S+, or allow it") as error:
        Security().check_token(address, "secret")
    assert "secret" not in str(error.value)
    Security(plaintext=True).check_token(address, "secret")
    Security().check_token(address, "")


def test_a_pair_that_is_none(tmp_path: Path) -> None:
    """A certificate goes with its own key, and neither without the other."""
    authority = AuthorityFiles(tmp_path)
    ada, bob = authority.client("ada"), authority.client("bob")
    names = str(authority.ca), str(ada.client_certificate), str(ada.client_key)
    Security(*names).credentials()
    with pytest.raises(ValueError, match=r"ada.pem and .*bob-key.pem are no certificate and its"):
        Security(None, ada.client_certificate, bob.client_key).credentials()
    with pytest.raises(ValueError, match="give both or none"):
        Security(None, ada.client_certificate).credentials()
    with pytest.raises(ValueError, match=r"can't read missing\.pem"):
        Security(None, ada.client_certificate, "missing.pem").credentials()


def test_nobody_is_asked_for_a_password(tmp_path: Path) -> None:
    """A bot runs without anybody at its terminal."""
    shown = AuthorityFiles(tmp_path).client()
    assert shown.client_key is not None
    assert shown.client_certificate is not None
    path = Path(shown.client_key)
    key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, shown.client_certificate, path],
        input="secret\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "are no certificate and its key in PEM, without a password" in done.stdout


@pytest.mark.parametrize(
    "details",
    ["Socket closed", "failed to connect to all addresses; Connection refused", "GOAWAY received"],
)
def test_other_failures(details: str) -> None:
    """What is no matter of TLS is left to others to explain."""
    assert handshake_failure(HERE, details) is None
