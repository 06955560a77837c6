"""Kubernetes' API server, as a Pod with a service account talks to it."""

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Self

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT_S = 30.0
_CHUNK = 1 << 16
CONFLICT, NOT_FOUND = 409, 404
BATCH = "apis/batch/v1"
"""The group of Jobs."""


class KubernetesError(Exception):
    """The API server has not done what it was asked for; the message is its own."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status
        """Of HTTP; 0 where there was no answer."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The API server, and the namespace of this Pod."""

    url: str
    namespace: str
    pod: str
    """This one's name."""
    token: Path
    """A file that is read anew each time, since tokens are replaced."""
    context: ssl.SSLContext | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], account: Path = _ACCOUNT) -> Self:
        """Read what each Pod is told.

        Raises:
            KubernetesError: this is no Pod, or one without a service account.
        """
        try:
            address = environ["KUBERNETES_SERVICE_HOST"]
            port, pod = environ["KUBERNETES_SERVICE_PORT"], environ["HOSTNAME"]
            namespace = (account / "namespace").read_text().strip()
            context = ssl.create_default_context(cafile=account / "ca.crt")
        except KeyError as error:
            raise KubernetesError(f"this is no Pod: {error.args[0]} is not set") from None
        except OSError as error:
            raise KubernetesError(f"this Pod has no service account: {error}") from None
        host = f"[{address}]" if ":" in address else address
        return cls(f"https://{host}:{port}", namespace, pod, account / "token", context)

    @property
    def host_and_port(self) -> tuple[str, int]:
        parts = urllib.parse.urlsplit(self.url)
        return parts.hostname or "", parts.port or 443

    def path(self, kind: str, name: str = "", group: str = "api/v1") -> str:
        """Where things of this namespace are, or one of them."""
        path = f"/{group}/namespaces/{self.namespace}/{kind}"
        return f"{path}/{name}" if name else path

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, object] | None = None,
    ) -> dict[str, Any]:
        """Make a request, and wait for its answer.

        Raises:
            KubernetesError: it is refused, or there is no answer.
        """
        with self._open(method, path, body, query or {}) as response:
            try:
                answer: dict[str, Any] = json.load(response)
            except (ValueError, OSError, HTTPException) as error:
                raise KubernetesError(f"{method} {path}: no JSON is answered: {error}") from None
        return answer

    def log(self, pod: str) -> Iterator[bytes]:
        """What a Pod's container writes, from the start until it ends.

        Raises:
            KubernetesError: it has none yet.
        """
        with self._open("GET", f"{self.path('pods', pod)}/log", None, {"follow": "true"}) as lines:
            try:
                while chunk := lines.read1(_CHUNK):
                    yield chunk
            except (OSError, HTTPException):  # whether it has ended its Pod tells
                return

    def _open(
        self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, object]
    ) -> Any:  # noqa: ANN401 - urllib says no more
        text = urllib.parse.urlencode(query)
        request = urllib.request.Request(  # noqa: S310 - the API server's own address
            f"{self.url}{path}{'?' if text else ''}{text}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token.read_text().strip()}",
                "Content-Type": "application/json",
            },
            method=method,
        )
        timeout = None if "follow" in query else _TIMEOUT_S
        try:
            return urllib.request.urlopen(request, timeout=timeout, context=self.context)  # noqa: S310 - as above
        except urllib.error.HTTPError as error:
            with error:
                raise KubernetesError(_message(error), error.code) from None
        except (OSError, HTTPException) as error:
            raise KubernetesError(f"{self.url} does not answer: {error}") from None


def _message(error: urllib.error.HTTPError) -> str:
    """The words of a refusal."""
    try:
        return str(json.load(error)["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"{error.code} {error.reason}"
