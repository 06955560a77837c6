"""The state that all pages of a site share: where answers come from, templates and sessions."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

from meijin.web.cache import PageCache
from meijin.web.gateway import DisplayNames, Gateway
from meijin.web.live.hub import LiveHub
from meijin.web.play.people import PeopleStreams
from meijin.web.policy import Hosts
from meijin.web.sessions import Sessions
from meijin.web.static import StaticFiles
from meijin.web.streaming import OpenStreams
from meijin.web.templating import environment

MAX_FOLLOWED = 500
"""Admissions of programs that browsers follow at once."""

MAX_FOLLOWED_OF_HOST = 100
"""Those of one address, behind which there may be a class."""


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """What a site is told."""

    hosts: Hosts = field(default_factory=Hosts)
    delay: timedelta = timedelta(0)
    """By how much live boards are behind the games."""


class SiteState:
    """What all pages of a site share."""

    def __init__(self, gateway: Gateway, settings: SiteSettings) -> None:
        self.gateway = gateway
        self.settings = settings
        self.hosts = settings.hosts
        self.names = DisplayNames()
        self.cache = PageCache()
        self.sessions = Sessions()
        self.static = StaticFiles()
        self.closing = asyncio.Event()
        """Set when the site stops: every stream to a browser ends."""
        self.live = LiveHub(gateway, self.closing, self.names)
        self.people = PeopleStreams(gateway, self.closing)
        self.uploads: Counter[str] = Counter()
        """Programs that forms are sending, by the tokens of who has signed in."""
        self.admissions = OpenStreams(MAX_FOLLOWED, of_host=MAX_FOLLOWED_OF_HOST)
        """Of browsers that follow the admission of a program."""
        self._templates = environment(self.static, self.names.shown)

    def render(self, template: str, **values: object) -> str:
        """A template's text; in a thread."""
        return self._templates.get_template(template).render(values)
