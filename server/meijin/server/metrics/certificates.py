"""The time that the certificates which are in use have left, read at a scrape."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from meijin.server.credentials import Credentials


class CertificateExpiry:
    """Tells when the server's certificate expires, and the authority's that clients are held to."""

    def __init__(
        self, credentials: Credentials, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._credentials = credentials
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        """The seconds that are left of each, for a registry; negative once it has expired."""
        family = GaugeMetricFamily(
            "meijin_certificate_expiry_seconds",
            "Until a certificate that is in use expires; negative once it has.",
            labels=("certificate",),
        )
        ends, now = self._credentials.ends, self._clock()
        family.add_metric(("server",), (ends.server - now).total_seconds())
        if ends.client_ca is not None:
            family.add_metric(("client_ca",), (ends.client_ca - now).total_seconds())
        yield family
