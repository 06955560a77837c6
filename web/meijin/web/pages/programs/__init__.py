"""Programs of bots: uploaded, examined, and managed by those whose they are.

- `listing`: the list of programs, with the form that uploads one
- `upload`: what that form sends, on its way to the server
- `program`: one program, with what its admission has found and what may be done to it
- `admission`: the stream of an admission that goes on
"""

from meijin.web.pages.programs import admission, listing, program, upload

ROUTES = (*listing.ROUTES, *upload.ROUTES, *program.ROUTES, *admission.ROUTES)
