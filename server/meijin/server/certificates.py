"""Certificates (X.509): those of a server are read and checked, and a small authority makes some.

By the package `cryptography`, since the standard library makes none, and looks only at files: what
is checked here is what is served, however the files change meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self, TypeAlias

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from meijin.server.errors import CertificateError

CLOCK_SKEW = timedelta(minutes=5)
"""A certificate is valid from so long ago, for machines whose clocks are behind."""
SERVER_NAME = "Meijin server"
"""What certificates of servers call them; clients look at the names that they are reached by."""


Key: TypeAlias = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

CURVES = (ec.SECP256R1, ec.SECP384R1)
"""Elliptic curves that gRPC's clients take: of P-521 and Ed25519 their handshakes fail."""

_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its key, in PEM."""

    certificate: bytes
    """Its own first, then those between it and its authority."""
    key: bytes
    end: datetime
    """Until when the certificate is valid."""

    @classmethod
    def read(cls, certificate: Path, key: Path) -> Self:
        """Read a pair.

        Raises:
            CertificateError: a file can't be read, is of another kind, or they don't belong
                together.
        """
        chain, secret = _read(certificate), _read(key)
        first = _certificates(certificate, chain)[0]
        if _private_key(key, secret).public_key() != first.public_key():
            raise CertificateError(f"{key} is not the key of {certificate}; give the one it has")
        return cls(chain, secret, first.not_valid_after_utc)

    def write(self, certificate: Path, key: Path) -> None:
        """Write a pair to new files, the key for its owner's eyes alone.

        Raises:
            FileExistsError: one of the files exists; neither is changed.
            OSError: one can't be written.
        """
        write_new(key, self.key, mode=0o600)
        try:
            write_new(certificate, self.certificate)
        except OSError:
            key.unlink()
            raise


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority, which signs certificates of servers and clients."""

    pair: KeyPair

    @classmethod
    def make(cls, name: str, *, now: datetime, validity: timedelta) -> Self:
        """An authority that nobody trusts yet."""
        key = ec.generate_private_key(ec.SECP256R1())
        extensions = (
            (x509.BasicConstraints(ca=True, path_length=0), True),
            (_usage(key_cert_sign=True, crl_sign=True), True),
            (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        )
        return cls(_signed(name, key, extensions, (_named(name), key), now=now, validity=validity))

    @classmethod
    def read(cls, certificate: Path, key: Path) -> Self:
        """Read an authority's certificate and key.

        Raises:
            CertificateError: as for any pair, or it is no authority's.
        """
        pair = KeyPair.read(certificate, key)
        found = x509.load_pem_x509_certificate(pair.certificate)
        with suppress(x509.ExtensionNotFound):
            if found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca:
                return cls(pair)
        raise CertificateError(f"{certificate} is no authority's certificate, so it can't sign any")

    def server_pair(self, names: Sequence[str], *, now: datetime, validity: timedelta) -> KeyPair:
        """A certificate of a server that is reached by these names and addresses.

        Raises:
            ValueError: one of them can't be either.
        """
        alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
        return self._sign(
            SERVER_NAME, ExtendedKeyUsageOID.SERVER_AUTH, alternatives, now=now, validity=validity
        )

    def client_pair(self, name: str, *, now: datetime, validity: timedelta) -> KeyPair:
        """A certificate that opens the servers which ask for one by this authority.

        Raises:
            ValueError: the name is empty or longer than 64 characters.
        """
        return self._sign(name, ExtendedKeyUsageOID.CLIENT_AUTH, now=now, validity=validity)

    def _sign(
        self,
        name: str,
        purpose: x509.ObjectIdentifier,
        *more: x509.ExtensionType,
        now: datetime,
        validity: timedelta,
    ) -> KeyPair:
        own = x509.load_pem_x509_certificate(self.pair.certificate)
        signer = serialization.load_pem_private_key(self.pair.key, password=None)
        assert isinstance(signer, Key)
        key = ec.generate_private_key(ec.SECP256R1())
        issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        extensions = (
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (_usage(digital_signature=True), True),
            (x509.ExtendedKeyUsage([purpose]), False),
            (issuer_id, False),
            *((extension, False) for extension in more),
        )
        return _signed(name, key, extensions, (own.subject, signer), now=now, validity=validity)


@dataclass(frozen=True, slots=True)
class Authorities:
    certificates: bytes
    end: datetime
    """Until when all of them are valid."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read those of a file.

        Raises:
            CertificateError: the file can't be read, or holds none.
        """
        content = _read(path)
        ends = [found.not_valid_after_utc for found in _certificates(path, content)]
        return cls(content, min(ends))


def write_new(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file that isn't there yet, and that nobody may read before its mode is set.

    Raises:
        FileExistsError: it is there.
        OSError: it can't be written.
    """
    path.touch(mode, exist_ok=False)
    path.write_bytes(content)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CertificateError(f"can't read {path}: {error.strerror}") from None


def _certificates(path: Path, content: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(content)
    except ValueError:
        raise CertificateError(f"{path} holds no certificate in PEM") from None


def _private_key(path: Path, content: bytes) -> Key:
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except TypeError:
        raise CertificateError(f"{path} has a password; give a key without one") from None
    except (ValueError, UnsupportedAlgorithm):
        raise CertificateError(f"{path} holds no private key in PEM") from None
    if isinstance(key, rsa.RSAPrivateKey):
        return key
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, CURVES):
        return key
    raise CertificateError(
        f"{path} is a key of a kind that TLS has no use for; give RSA, P-256 or P-384"
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative(name: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ip_address(name))
    if not _HOST.fullmatch(name):
        raise ValueError(
            f'"{name}" is no name of a host and no address; write it like "arena.example.org" or '
            '"192.0.2.1"'
        )
    return x509.DNSName(name)


def _usage(**wanted: bool) -> x509.KeyUsage:
    names = (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
        *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    )
    return x509.KeyUsage(**{name: wanted.get(name, False) for name in names})


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    extensions: Iterable[tuple[x509.ExtensionType, bool]],
    issuer: tuple[x509.Name, Key],
    *,
    now: datetime,
    validity: timedelta,
) -> KeyPair:
    """A certificate by an issuer; of each extension is said whether it is critical."""
    issuer_name, signer = issuer
    builder = (
        x509.CertificateBuilder(issuer_name, _named(name), key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + validity)
    )
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, critical=is_critical)
    certificate = builder.sign(signer, hashes.SHA256())
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    return KeyPair(pem, secret, certificate.not_valid_after_utc)
