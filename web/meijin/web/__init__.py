"""The arena in a browser: pages for people, the JSON API and live boards.

A client of the contract, like the command line: whatever a page shows is asked for through the
`gateway`, in the server's own process or from another one.

- `gateway`: where answers come from, in this process or by a connection, and display names
- `site`: the application, with all routes; `host`: the HTTP server that it runs in
- `state`: what all pages of a site share
- `request`: one request, with the services as its sender may call them, and the kinds of routes
- `forms`: what forms send, and what they lead to
- `cache`: lazy pages, and pages kept as they were sent
- `refusals`: calls that were refused, as statuses of HTTP
- `streaming`: what answers that go on have in common
- `sessions`: who has signed in
- `templating`, `wording`: the templates, and every text that people read
- `labels`: values of the contract in a few characters; `charts`: what `charts.js` draws
- `policy`: what browsers may do with the pages; `static`: scripts, styles and fonts
- `play`: people's games; `live`: boards that move by themselves
- `pages`: the pages by subject
- `api`: the JSON API
- `pictures`, `replay`: a game as pixels, and as a page of its own
"""
