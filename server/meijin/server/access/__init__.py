"""Who may do what: decisions about bots, tokens, owners and webhooks, each with its row in the audit log.

- `permissions`: the scopes that may call each method
- `caller`: who calls, as every decision is told
- `bots`: bots registered and changed, with effect on open streams
- `tokens`: secrets made, rotated and revoked, with effect on open calls
- `owners`: invitations, and owners that come by them
- `classes`: classes made, their students added, their deadlines set
- `challenges`: challenges made and taken back; `challenge_budget`: how many games of them
- `people`: people let in, and forgotten
- `anchors`: anchors of ladders set
- `programs`: programs handed over, taken back, suspended and rolled back
- `webhooks`: webhooks made, enabled, given new secrets, tested and deleted
- `open_calls`: calls that end with the token that they were made with
- `last_seen`: when bots were last connected
- `last_uses`: when tokens were last used, and the end of calls whose token has expired
"""
