"""The shell: what all pages of a site share."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from jinja2 import Environment

from meijin.web.cache import PageCache
from meijin.web.gateway import Gateway
from meijin.web.live.hub import LiveHub
from meijin.web.play.seats import Seats
from meijin.web.policy import Hosts
from meijin.web.sessions import Sessions
from meijin.web.static import StaticFiles
from meijin.web.templating import environment


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """What a site is told."""

    hosts: Hosts = field(default_factory=Hosts)
    delay: timedelta = timedelta(0)
    """By how much live boards are behind the games."""


class Shell:
    """What all pages of a site share: where answers come from, templates, cache and sessions."""

    def __init__(self, gateway: Gateway, settings: SiteSettings) -> None:
        self.gateway = gateway
        self.settings = settings
        self.hosts = settings.hosts
        self.cache = PageCache()
        self.sessions = Sessions()
        self.static = StaticFiles()
        self.closing = asyncio.Event()
        """Set when the site stops: every stream to a browser ends."""
        self.live = LiveHub(gateway, self.closing)
        self.seats = Seats(gateway, self.closing)
        """People who play."""
        self._templates: Environment = environment(self.static)

    def render(self, template: str, view: Callable[[], object], here: object) -> str:
        """A template's text; in a thread."""
        return self._templates.get_template(template).render(page=view(), here=here)
