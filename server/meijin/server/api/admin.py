"""What owners and operators do to bots, and the audit log."""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.bot_control import BotControl
from meijin.server.access.caller import current_caller
from meijin.server.api.convert_access import act_to_proto, managed_bot_to_proto
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import page_key, read_page
from meijin.server.storage import Storage
from meijin.store.access.audit import ActRow, list_acts
from meijin.v1 import admin_service_pb2 as pb
from meijin.v1.admin_service_pb2_grpc import AdminServiceServicer


class AdminServicer(AdminServiceServicer):
    """Bots as they are managed."""

    def __init__(self, control: BotControl, storage: Storage) -> None:
        self._control = control
        self._storage = storage

    async def DisableBot(
        self, request: pb.DisableBotRequest, context: Context
    ) -> pb.DisableBotResponse:
        """Keep a bot away."""
        bot = await self._control.disable(current_caller.get(), request.name, request.reason)
        return pb.DisableBotResponse(bot=managed_bot_to_proto(bot))

    async def EnableBot(
        self, request: pb.EnableBotRequest, context: Context
    ) -> pb.EnableBotResponse:
        """Let a disabled bot play again."""
        bot = await self._control.enable(current_caller.get(), request.name)
        return pb.EnableBotResponse(bot=managed_bot_to_proto(bot))

    async def UnpauseBot(
        self, request: pb.UnpauseBotRequest, context: Context
    ) -> pb.UnpauseBotResponse:
        """Lift a bot's pause."""
        bot = await self._control.unpause(current_caller.get(), request.name)
        return pb.UnpauseBotResponse(bot=managed_bot_to_proto(bot))

    async def HideBot(self, request: pb.HideBotRequest, context: Context) -> pb.HideBotResponse:
        """Leave a bot out of lists and tables."""
        bot = await self._control.set_hidden(current_caller.get(), request.name, is_hidden=True)
        return pb.HideBotResponse(bot=managed_bot_to_proto(bot))

    async def ShowBot(self, request: pb.ShowBotRequest, context: Context) -> pb.ShowBotResponse:
        """Show a hidden bot again."""
        bot = await self._control.set_hidden(current_caller.get(), request.name, is_hidden=False)
        return pb.ShowBotResponse(bot=managed_bot_to_proto(bot))

    async def BanBot(self, request: pb.BanBotRequest, context: Context) -> pb.BanBotResponse:
        """Keep a bot away until an operator lifts it."""
        bot = await self._control.ban(current_caller.get(), request.name, request.reason)
        return pb.BanBotResponse(bot=managed_bot_to_proto(bot))

    async def UnbanBot(self, request: pb.UnbanBotRequest, context: Context) -> pb.UnbanBotResponse:
        """Lift a ban."""
        bot = await self._control.unban(current_caller.get(), request.name)
        return pb.UnbanBotResponse(bot=managed_bot_to_proto(bot))

    async def RenameBot(
        self, request: pb.RenameBotRequest, context: Context
    ) -> pb.RenameBotResponse:
        """Give a bot another name."""
        bot = await self._control.rename(current_caller.get(), request.name, request.new_name)
        return pb.RenameBotResponse(bot=managed_bot_to_proto(bot))

    async def ListAudit(
        self, request: pb.ListAuditRequest, context: Context
    ) -> pb.ListAuditResponse:
        """List what owners and operators have changed, newest first."""
        page = await read_page(
            self._storage,
            partial(_list, of=request.of),
            act_to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda act: act.id,
        )
        return pb.ListAuditResponse(acts=page.messages, next_page_token=page.next_token)


def _list(connection: Connection, *, of: str, limit: int, after: str) -> Sequence[ActRow]:
    return list_acts(connection, limit=limit, before=page_key(after), of=of)
