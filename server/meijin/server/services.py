"""The services: their names, and what answers their methods."""

from pathlib import Path
from typing import cast

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from meijin.server.access.webhooks import WebhookControl
from meijin.server.api.admin import AdminServicer
from meijin.server.api.analysis import AnalysisServicer
from meijin.server.api.bots import BotServicer
from meijin.server.api.challenges import ChallengeServicer
from meijin.server.api.classes import ClassServicer
from meijin.server.api.faults import FaultServicer
from meijin.server.api.games import GameServicer
from meijin.server.api.health import HealthServicer
from meijin.server.api.ladders import LadderServicer
from meijin.server.api.limits import Limits
from meijin.server.api.local import Registrar
from meijin.server.api.openings import OpeningServicer
from meijin.server.api.owners import OwnerServicer
from meijin.server.api.play import PlayServicer
from meijin.server.api.status import StatusServicer
from meijin.server.api.tokens import TokenServicer
from meijin.server.api.tournaments import TournamentServicer
from meijin.server.api.webhooks import WebhookServicer
from meijin.server.credentials import Credentials
from meijin.server.parts import Access, Parts
from meijin.v1 import (
    admin_service_pb2,
    admin_service_pb2_grpc,
    analysis_service_pb2,
    analysis_service_pb2_grpc,
    bot_service_pb2,
    bot_service_pb2_grpc,
    challenge_service_pb2,
    challenge_service_pb2_grpc,
    class_service_pb2,
    class_service_pb2_grpc,
    fault_service_pb2,
    fault_service_pb2_grpc,
    game_service_pb2,
    game_service_pb2_grpc,
    ladder_service_pb2,
    ladder_service_pb2_grpc,
    opening_service_pb2,
    opening_service_pb2_grpc,
    owner_service_pb2,
    owner_service_pb2_grpc,
    play_service_pb2,
    play_service_pb2_grpc,
    status_service_pb2,
    status_service_pb2_grpc,
    token_service_pb2,
    token_service_pb2_grpc,
    tournament_service_pb2,
    tournament_service_pb2_grpc,
    webhook_service_pb2,
    webhook_service_pb2_grpc,
)

STORING_SERVICES = (
    admin_service_pb2.DESCRIPTOR.services_by_name["AdminService"].full_name,
    token_service_pb2.DESCRIPTOR.services_by_name["TokenService"].full_name,
    owner_service_pb2.DESCRIPTOR.services_by_name["OwnerService"].full_name,
    class_service_pb2.DESCRIPTOR.services_by_name["ClassService"].full_name,
    play_service_pb2.DESCRIPTOR.services_by_name["PlayService"].full_name,
    bot_service_pb2.DESCRIPTOR.services_by_name["BotService"].full_name,
    tournament_service_pb2.DESCRIPTOR.services_by_name["TournamentService"].full_name,
    challenge_service_pb2.DESCRIPTOR.services_by_name["ChallengeService"].full_name,
    game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name,
    ladder_service_pb2.DESCRIPTOR.services_by_name["LadderService"].full_name,
    fault_service_pb2.DESCRIPTOR.services_by_name["FaultService"].full_name,
    opening_service_pb2.DESCRIPTOR.services_by_name["OpeningService"].full_name,
    analysis_service_pb2.DESCRIPTOR.services_by_name["AnalysisService"].full_name,
    webhook_service_pb2.DESCRIPTOR.services_by_name["WebhookService"].full_name,
    status_service_pb2.DESCRIPTOR.services_by_name["StatusService"].full_name,
)
"""Those that need the store."""

OTHER_SERVICES = (health.SERVICE_NAME, reflection.SERVICE_NAME)

SERVICES = (*STORING_SERVICES, *OTHER_SERVICES)


def add_services(
    registrar: Registrar,
    parts: Parts,
    health_servicer: HealthServicer,
    limits: Limits,
    access: Access,
    *,
    webhooks: WebhookControl,
    backups: Path,
    credentials: Credentials | None,
) -> None:
    """Have the server answer the calls of every service."""
    server = cast("grpc.aio.Server", registrar)  # as the generated functions have it
    pauses = parts.scheduler.pauses
    play_service_pb2_grpc.add_PlayServiceServicer_to_server(
        PlayServicer(
            parts.lobby,
            parts.actions,
            parts.watch,
            parts.storage,
            limits=limits,
            store_watch=parts.store_watch,
            calls=access.calls,
            tracer=parts.tracer,
        ),
        server,
    )
    bot_service_pb2_grpc.add_BotServiceServicer_to_server(
        BotServicer(access.bots, parts.lobby, pauses, parts.storage), server
    )
    admin_service_pb2_grpc.add_AdminServiceServicer_to_server(AdminServicer(parts.storage), server)
    token_service_pb2_grpc.add_TokenServiceServicer_to_server(
        TokenServicer(access.tokens, parts.storage, access.uses), server
    )
    owner_service_pb2_grpc.add_OwnerServiceServicer_to_server(
        OwnerServicer(access.owners, parts.storage), server
    )
    class_service_pb2_grpc.add_ClassServiceServicer_to_server(
        ClassServicer(access.classes, parts.lobby, parts.storage), server
    )
    tournament_service_pb2_grpc.add_TournamentServiceServicer_to_server(
        TournamentServicer(
            parts.creator, parts.control, parts.scheduler, parts.storage, parts.feed
        ),
        server,
    )
    challenge_service_pb2_grpc.add_ChallengeServiceServicer_to_server(
        ChallengeServicer(access.challenges, access.people, parts.scheduler, parts.storage), server
    )
    game_service_pb2_grpc.add_GameServiceServicer_to_server(
        GameServicer(parts.control, parts.games, parts.storage, parts.feed, parts.watch), server
    )
    ladder_service_pb2_grpc.add_LadderServiceServicer_to_server(
        LadderServicer(parts.storage, parts.refreshes, pauses), server
    )
    fault_service_pb2_grpc.add_FaultServiceServicer_to_server(
        FaultServicer(parts.storage, pauses), server
    )
    opening_service_pb2_grpc.add_OpeningServiceServicer_to_server(
        OpeningServicer(parts.storage), server
    )
    analysis_service_pb2_grpc.add_AnalysisServiceServicer_to_server(
        AnalysisServicer(parts.lobby, parts.storage, limits), server
    )
    webhook_service_pb2_grpc.add_WebhookServiceServicer_to_server(
        WebhookServicer(webhooks, parts.storage), server
    )
    status_service_pb2_grpc.add_StatusServiceServicer_to_server(
        StatusServicer(
            lobby=parts.lobby,
            games=parts.games,
            store_watch=parts.store_watch,
            scheduler=parts.scheduler,
            storage=parts.storage,
            refreshes=parts.refreshes,
            watch=parts.watch,
            game_rate=parts.game_rate,
            backups=backups,
            credentials=credentials,
        ),
        server,
    )
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    reflection.enable_server_reflection(SERVICES, registrar.server)  # asks whether it is gRPC's
