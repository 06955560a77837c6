"""Ids, what rows are known by: of a type each, so that none is taken for another."""

from typing import NewType

OwnerId = NewType("OwnerId", int)
BotId = NewType("BotId", int)
TokenId = NewType("TokenId", int)
BotVersionId = NewType("BotVersionId", int)
LadderId = NewType("LadderId", int)
TournamentId = NewType("TournamentId", int)
PairingId = NewType("PairingId", int)
GameId = NewType("GameId", int)
FaultId = NewType("FaultId", int)
RatingRunId = NewType("RatingRunId", int)
EntryId = NewType("EntryId", int)
InvitationId = NewType("InvitationId", int)
ActId = NewType("ActId", int)
ClassId = NewType("ClassId", int)
WebhookId = NewType("WebhookId", int)
DeliveryId = NewType("DeliveryId", int)
ProgramId = NewType("ProgramId", int)
Epoch = NewType("Epoch", int)
FormatName = NewType("FormatName", str)
"""Names a format of tournaments, such as ``round-robin``."""
