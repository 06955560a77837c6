"""The arena in a browser: pages for people, the JSON API and live boards.

A client of the contract, like the command line: whatever a page shows is asked for through the
`gateway`, in the server's own process or from another one.

- `gateway`, `remote`: where answers come from, and a server elsewhere as such
- `site`: the application, with all `routes`; `host`: the HTTP server that it runs in
- `certificate`: what it is served with
- `shell`: what all pages of a site share
- `visit`: one request, with the services as its sender may call them
- `drafts`, `cache`: what a page is made of, and pages kept as they were sent
- `refusals`: calls that were refused, as statuses of HTTP
- `sessions`: who has signed in
- `templating`, `wording`: the templates, and every text that people read
- `charts`: what `charts.js` draws
- `policy`: what browsers may do with the pages; `static`: scripts, styles and fonts
- `pages`: the pages by subject
"""
