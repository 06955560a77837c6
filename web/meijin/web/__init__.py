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
- `streaming`: what answers that go on have in common
- `sessions`: who has signed in
- `templating`, `wording`: the templates, and every text that people read
- `labels`: values of the contract in a few characters
- `game_lines`, `fault_lines`: games and faults as lines of lists
- `crosstables`, `rounds`, `pace`: what a tournament's page shows
- `game_files`: all games of a tournament as one file
- `charts`: what `charts.js` draws; `histories`, `sprt_charts`: of ratings and of tests
- `terms`: what is to be played, as a form asks for it
- `policy`: what browsers may do with the pages; `static`: scripts, styles and fonts
- `play`: people's games
- `pages`: the pages by subject
- `api`: the JSON API
- `games`, `pictures`, `replay`: a game as its page shows it, as pixels, and as a page of its own
"""
