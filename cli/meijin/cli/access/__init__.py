"""Who may do what: tokens, owners and their invitations, and the server that is logged in to.

- `tokens`: `meijin token`
- `admin`: `meijin admin`
- `login`: `meijin login` and `logout`
"""
