"""Methods: the verb and the path by which the API offers each method of the contract."""

from dataclasses import dataclass

PREFIX = "/api/v1"
"""How the address of everything in the API begins."""

PACKAGE = "meijin.v1"


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the contract, as the API offers it."""

    verb: str
    """Of HTTP; a GET takes the request's fields from the query, others from a body."""
    path: str
    """Behind the prefix; what stands in braces is a field of the request."""
    name: str
    """Such as ``GameService/GetGame``."""
    example: str = ""
    """A query or a body that says how it is used; empty for none."""

    @property
    def full_path(self) -> str:
        """The path with the prefix."""
        return PREFIX + self.path


METHODS = (
    Method("GET", "/audit", "AdminService/ListAudit", "of=ada"),
    Method(
        "POST",
        "/bots/{bot}/evaluations",
        "AnalysisService/Evaluate",
        '{"positions": [{"moves": "cAA="}]}',
    ),
    Method("GET", "/bots", "BotService/ListBots", "page_size=20"),
    Method("POST", "/bots", "BotService/RegisterBot", '{"name": "ada"}'),
    Method("GET", "/bots/{name}", "BotService/GetBot", "with_results=true"),
    Method("PATCH", "/bots/{name}", "BotService/UpdateBot", '{"hidden": true}'),
    Method("GET", "/bots/{name}/versions", "BotService/ListBotVersions"),
    Method("GET", "/challenges", "ChallengeService/ListChallenges", "running=true"),
    Method(
        "POST",
        "/challenges",
        "ChallengeService/CreateChallenge",
        '{"opponent": "ada", "challenger": "bea", '
        '"settings": {"games": 2, "time_control": {"initial": "60s", "increment": "1s"}}}',
    ),
    Method("GET", "/challenges/{challenge_id}", "ChallengeService/GetChallenge"),
    Method("POST", "/challenges/{challenge_id}/cancel", "ChallengeService/CancelChallenge"),
    Method("GET", "/classes", "ClassService/ListClasses"),
    Method("POST", "/classes", "ClassService/CreateClass", '{"name": "autumn"}'),
    Method("GET", "/classes/{name}", "ClassService/GetClass"),
    Method(
        "PATCH",
        "/classes/{name}",
        "ClassService/UpdateClass",
        '{"student": {"handle": "ada", "display_name": "Ada"}}',
    ),
    Method("GET", "/faults", "FaultService/ListFaults", "bot=ada"),
    Method("GET", "/games", "GameService/ListGames", "state=GAME_STATE_FINISHED&page_size=5"),
    Method("GET", "/games/{game_id}", "GameService/GetGame"),
    Method("GET", "/games/{game_id}/watch", "GameService/WatchGame"),
    Method("GET", "/arena/watch", "GameService/WatchArena", "max_games=10"),
    Method(
        "GET", "/games/{game_id}/record", "GameService/ExportGame", "format=RECORD_FORMAT_POSITION"
    ),
    Method("POST", "/games/{game_id}/void", "GameService/VoidGame", '{"reason": "a test"}'),
    Method("GET", "/ladders", "LadderService/ListLadders"),
    Method("GET", "/ladders/{ladder}/standings", "LadderService/GetStandings", "page_size=20"),
    Method("GET", "/ladders/{ladder}/runs", "LadderService/ListRatingRuns"),
    Method("GET", "/ladders/{ladder}/matrix", "LadderService/GetMatrix", "limit=5"),
    Method("GET", "/ladders/{ladder}/diagnosis", "LadderService/GetDiagnosis"),
    Method("GET", "/ladders/{ladder}/pair-counts", "LadderService/ListPairCounts"),
    Method("GET", "/ladders/{ladder}/covariances", "LadderService/ListCovariances"),
    Method("PUT", "/ladders/{ladder}/anchors", "LadderService/SetAnchors", '{"bots": ["ada"]}'),
    Method("GET", "/ladders/{ladder}/bots/{bot}/ratings", "LadderService/ListRatings"),
    Method("GET", "/ladders/{ladder}/bots/{bot}/against/{opponent}", "LadderService/GetHeadToHead"),
    Method(
        "GET",
        "/openings",
        "OpeningService/Explore",
        "variant.width=15&variant.height=15&moves=cAA=",
    ),
    Method("GET", "/invitations", "OwnerService/ListInvitations"),
    Method("POST", "/invitations", "OwnerService/CreateInvitation", '{"uses": 3}'),
    Method("DELETE", "/invitations/{invitation_id}", "OwnerService/RevokeInvitation"),
    Method("GET", "/owners", "OwnerService/ListOwners"),
    Method("POST", "/owners", "OwnerService/Join", '{"invitation": "mji_...", "name": "lovelace"}'),
    Method("GET", "/status", "StatusService/GetStatus"),
    Method("GET", "/activity", "StatusService/GetActivity"),
    Method("GET", "/own-token", "TokenService/GetOwnToken"),
    Method("GET", "/tokens", "TokenService/ListTokens"),
    Method("POST", "/tokens", "TokenService/CreateToken", '{"kind": "TOKEN_KIND_READ"}'),
    Method("POST", "/tokens/rotate", "TokenService/RotateToken", '{"bot": "ada"}'),
    Method("DELETE", "/tokens/{token_id}", "TokenService/RevokeToken"),
    Method("GET", "/tournaments", "TournamentService/ListTournaments", "page_size=5"),
    Method(
        "POST",
        "/tournaments",
        "TournamentService/CreateTournament",
        '{"settings": {"name": "Friday", "bots": ["ada", "bea"], "rounds": 2}}',
    ),
    Method("GET", "/tournaments/{tournament_id}", "TournamentService/GetTournament"),
    Method("GET", "/tournaments/{tournament_id}/test-points", "TournamentService/ListTestPoints"),
    Method("GET", "/tournaments/{tournament_id}/watch", "TournamentService/WatchTournament"),
    Method(
        "PATCH",
        "/tournaments/{tournament_id}",
        "TournamentService/UpdateTournament",
        '{"state": "TOURNAMENT_STATE_CANCELLED"}',
    ),
    Method("GET", "/webhooks", "WebhookService/ListWebhooks"),
    Method(
        "POST",
        "/webhooks",
        "WebhookService/CreateWebhook",
        '{"url": "https://example.org/meijin", "events": ["WEBHOOK_EVENT_GAME_ENDED"]}',
    ),
    Method("DELETE", "/webhooks/{webhook_id}", "WebhookService/DeleteWebhook"),
    Method("POST", "/webhooks/{webhook_id}/enable", "WebhookService/EnableWebhook"),
    Method("POST", "/webhooks/{webhook_id}/rotate-secret", "WebhookService/RotateSecret"),
    Method("POST", "/webhooks/{webhook_id}/test", "WebhookService/SendTest"),
    Method("GET", "/webhooks/{webhook_id}/deliveries", "WebhookService/ListDeliveries"),
    Method("POST", "/deliveries/{delivery_id}/redeliver", "WebhookService/Redeliver"),
)
"""Every method that the API offers."""

LEFT_OUT = {
    "PlayService/Play": "a bot's stream goes both ways, which HTTP does not offer to all clients",
    "BotService/ReportDoctor": "the doctor sends it, with the bot's own token",
    "ChallengeService/EnterAsPerson": "people play by the stream, which is not offered here",
}
"""Methods that the API does not offer, and why."""
