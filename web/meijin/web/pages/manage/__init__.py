"""Pages of operators: the `overview`, `tournaments`, `invitations`, and the log that is an `audit`."""

from meijin.web.pages.manage import audit, invitations, overview, tournaments

ROUTES = (*overview.ROUTES, *tournaments.ROUTES, *invitations.ROUTES, *audit.ROUTES)
