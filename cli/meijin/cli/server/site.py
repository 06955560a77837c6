"""The pages of a server for browsers, put together with the server whose pages they are."""

import grpc
import structlog

from meijin.server.api.calls.local import LocalCalls
from meijin.server.settings import Settings
from meijin.web.gateway import Visitor
from meijin.web.host import Certificate, Host, open_listener
from meijin.web.policy import Hosts
from meijin.web.state import SiteSettings, SiteState
from meijin.wire.contract import is_local

log = structlog.get_logger()


class LocalGateway:
    """The services of this process."""

    def __init__(self, calls: LocalCalls) -> None:
        self._calls = calls

    def channel(self, visitor: Visitor) -> grpc.aio.Channel:
        """A channel on which calls have the limits of the visitor's address."""
        return self._calls.channel(visitor.host, visitor.token)


def open_site(settings: Settings, calls: LocalCalls) -> Host | None:
    """The pages of a server; ``None`` where their port can't be had, which is logged."""
    name, _, port = settings.web.rpartition(":")
    try:
        listener = open_listener(name, int(port))
    except OSError as error:
        log.warning("no pages for browsers", address=settings.web, reason=error.strerror)
        return None
    hosts = Hosts(settings.web_url or "", is_local=is_local(settings.web))
    told = SiteSettings(hosts, settings.web_delay)
    state = SiteState(LocalGateway(calls), told)
    if settings.certificate is None or settings.key is None:
        return Host(state, listener)
    return Host(state, listener, Certificate(settings.certificate, settings.key))
