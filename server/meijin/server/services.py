"""The services: their names, and what answers their methods."""

import sys

from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection

from meijin.server.access.permissions import PERMISSIONS
from meijin.server.api.calls.limits import Limits
from meijin.server.api.calls.local import Registrar
from meijin.server.api.services.admin import AdminServicer
from meijin.server.api.services.analysis import AnalysisServicer
from meijin.server.api.services.bots import BotServicer
from meijin.server.api.services.challenges import ChallengeServicer
from meijin.server.api.services.classes import ClassServicer
from meijin.server.api.services.faults import FaultServicer
from meijin.server.api.services.games import GameServicer
from meijin.server.api.services.health import HealthServicer
from meijin.server.api.services.hosting import HostingServicer
from meijin.server.api.services.ladders import LadderServicer
from meijin.server.api.services.openings import OpeningServicer
from meijin.server.api.services.owners import OwnerServicer
from meijin.server.api.services.status import StatusServicer
from meijin.server.api.services.tokens import TokenServicer
from meijin.server.api.services.tournaments import TournamentServicer
from meijin.server.api.services.webhooks import WebhookServicer
from meijin.server.api.streams.hosts import HostServicer
from meijin.server.api.streams.play import PlayServicer
from meijin.server.api.streams.workers import WorkerServicer
from meijin.server.credentials import Credentials
from meijin.server.parts import Parts
from meijin.server.process.operator_token import OperatorTokenFile
from meijin.server.settings import Settings

STORING_SERVICES = tuple(
    dict.fromkeys(method.split("/")[1] for method in PERMISSIONS if method.startswith("/meijin."))
)
"""Those that need the store."""

OTHER_SERVICES = (health.SERVICE_NAME, reflection.SERVICE_NAME)

SERVICES = (*STORING_SERVICES, *OTHER_SERVICES)


def add_services(
    registrar: Registrar,
    parts: Parts,
    health_servicer: HealthServicer,
    limits: Limits,
    *,
    settings: Settings,
    webhooks: WebhookServicer,
    credentials: Credentials | None,
) -> None:
    """Have the server answer the calls of every service."""
    pauses, storage, lobby = parts.scheduler.pauses, parts.storage, parts.lobby
    servicers = (
        PlayServicer(
            lobby,
            parts.actions,
            parts.watch,
            storage,
            limits=limits,
            store_watch=parts.store_watch,
            calls=parts.calls,
            tracer=parts.tracer,
        ),
        BotServicer(storage, lobby, parts.scheduler, settings),
        AdminServicer(storage),
        TokenServicer(storage, lobby, parts.calls, parts.uses, OperatorTokenFile(settings.data)),
        OwnerServicer(storage, settings),
        ClassServicer(storage, lobby, settings),
        TournamentServicer(parts.creator, parts.control, parts.scheduler, storage, parts.feed),
        ChallengeServicer(parts.challenges, parts.people, parts.scheduler, storage),
        GameServicer(parts.control, parts.games, storage, parts.feed, parts.watch),
        LadderServicer(storage, parts.refreshes, pauses),
        FaultServicer(storage, pauses, settings),
        OpeningServicer(storage),
        AnalysisServicer(lobby, storage, limits),
        WorkerServicer(
            parts.workers,
            lobby,
            parts.journal,
            storage,
            settings=settings,
            limits=limits,
            calls=parts.calls,
        ),
        HostServicer(
            parts.scheduler, lobby, storage, limits=limits, calls=parts.calls, depot=parts.depot
        ),
        webhooks,
        HostingServicer(
            storage,
            parts.depot,
            parts.admissions,
            parts.examinations,
            seats=parts.scheduler.seats,
            lobby=lobby,
            settings=settings,
            limits=limits,
        ),
        StatusServicer(parts, settings.backups, credentials),
        health_servicer,
    )
    for servicer in servicers:
        # The function that is generated beside the servicer's base.
        base = type(servicer).__mro__[1]
        add = getattr(sys.modules[base.__module__], f"add_{base.__name__}_to_server")
        add(servicer, registrar)
    reflection.enable_server_reflection(SERVICES, registrar.server)  # asks whether it is gRPC's
