"""The mutants: one guard of the product taken away each, and the tests that have to notice.

A mutant's text stands once in its room, wherever it moves there. Who rewrites such a line writes
its mutant anew; a new guard wants a mutant of its own.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A change of one line, by which a guard is lost."""

    name: str
    """What goes wrong."""
    text: str
    replacement: str


class Group(NamedTuple):
    """Mutants of one subject."""

    room: str
    """The folder that the texts stand in."""
    tests: str
    """The files that have to notice each of them, apart by spaces."""
    mutants: tuple[Mutant, ...]


M = Mutant

GROUPS = (
    Group(
        "game/meijin/game/arbiter",
        "tests/game/arbiter/test_arbiter.py",
        (
            M("takes-the-opponents-move", "if seat is not self.turns[ply & 1]:", "if False:"),
            M("takes-a-move-unasked", "or not is_asked or", "or"),
            M(
                "credits-more-lag-than-it-was",
                "            lag_ns,\n            allow",
                "            allow",
            ),
            M("credits-lag-without-end", "            earned_ns - taken_ns,\n", ""),
            M("forgets-the-lag-it-credited", "credit.lag_ns += credit_ns", "pass"),
            M("forgets-the-margin-it-gave", ".margin_ns += excess_ns", ".margin_ns += 0"),
            M("draws-no-full-board", "len(board.moves) == self._most_stones or", "False or"),
            M(
                "blames-the-winner",
                "color.other, Party.of(color)",
                "color.other, Party.of(color.other)",
            ),
            M("holds-no-late-move", "is_up(self.turn) and", "is_up(self.turn) and False and"),
            M("lets-flags-fall-unprobed", "return carried_ns > self._raised_ns", "return True"),
            M("waits-for-every-pong", "max(self._at_ns, since_ns) > PING_PATIENCE_NS", "0 < 0"),
            M(
                "grants-grace-anew",
                "self._grace_ns[seat] -= max(",
                "self._grace_ns[seat] -= 0 * max(",
            ),
            M(
                "forgets-what-a-turn-used",
                "return max(left - self._used_ns, 0) if",
                "return left if",
            ),
            M(
                "calls-a-foul-illegal",
                "Ending.FORBIDDEN if is_foul else",
                "Ending.ILLEGAL if is_foul else",
            ),
        ),
    ),
    Group(
        "server/meijin/server/match",
        "tests/server/match/test_stalls.py",
        (
            M(
                "counts-a-stall-twice",
                "self._stood_until_ns, self.counted_ns = moment",
                "self.counted_ns = moment[1]",
            ),
            M(
                "expects-no-probe",
                "PROBE_TOLERANCE_NS\n        self.carried",
                "NEVER_NS\n        self.carried",
            ),
        ),
    ),
    Group(
        "server/meijin/server/match/journal",
        "tests/server/match/journal tests/server/match/test_games.py",
        (
            M("releases-before-the-commit", "await self.commit(batch.entry)\n", "release(batch)\n"),
            M("does-not-look-for-a-lost-answer", "entry=entry, is_retry=True", "entry=entry"),
            M("swallows-a-broken-database", "not error.connection_invalidated and", "False and"),
            M("forgets-when-games-end", "for game in games:\n            self._drop(game)", "pass"),
        ),
    ),
    Group(
        "store/meijin/store",
        "tests/store/test_journal.py",
        (
            M(
                "commits-an-entry-twice",
                "if is_retry and connection.scalar",
                "if False and connection.scalar",
            ),
            M("ends-a-game-that-is-over", "if changed != len(ends):", "if False:"),
            M(
                "voids-what-is-not-finished",
                "if not void_game(connection, void):",
                "void_game(connection, void)\n        if False:",
            ),
            M(
                "deletes-a-needed-entry",
                "tuple_(*_KEY) < _GIVEN_KEY",
                "tuple_(*_KEY) <= _GIVEN_KEY",
            ),
            M("swaps-no-players", "_SWAP_PLAYERS.execute(connection, swapped)", "pass"),
            M("stores-no-fault", "add_faults(connection, filter(None, map(_fault, ends)))", "pass"),
        ),
    ),
    Group(
        "store/meijin/store",
        "tests/store/test_claims.py",
        (
            M("follows-a-link-to-a-lock", "os.O_NOFOLLOW", "0"),
            M("leaves-a-lock-open-to-all", "os.fchmod(self._file, 0o600)", "pass"),
            M(
                "takes-a-lock-that-is-held",
                "fcntl.LOCK_EX | fcntl.LOCK_NB",
                "fcntl.LOCK_SH | fcntl.LOCK_NB",
            ),
        ),
    ),
    Group(
        "store/meijin/store",
        "tests/store/test_writer.py tests/store/test_database.py tests/server/match/test_fence.py",
        (
            M("writes-though-fenced", "if claim != self._claim:", "if False:"),
            M("misses-lost-commits", "if self._acknowledged.id and newest", "if False and newest"),
            M(
                "looks-once-for-other-writers",
                "if version != self._version:",
                "if self._version is None:",
            ),
            M(
                "fails-a-whole-group",
                "_fail([failed], error)",
                "_fail(group, error)\n            return",
            ),
            M("lets-games-wait", "_Turn.URGENT if is_urgent else _Turn.OTHER", "_Turn.OTHER"),
        ),
    ),
    Group(
        "store/meijin/store",
        "tests/store/test_voids.py",
        (
            M(
                "rates-no-heir",
                ".values(is_repeat=False))\n    if game.ladder",
                ".values(is_repeat=True))\n    if game.ladder",
            ),
            M(
                "keeps-a-voided-tournament-over",
                '"state": TournamentState.RUNNING, "end_time"',
                '"end_time"',
            ),
            M(
                "keeps-a-voided-ladder",
                '"revision": Ladder.revision + 1,\n        "voided"',
                '"voided"',
            ),
        ),
    ),
    Group(
        "store/meijin/store",
        "tests/store/access/test_tokens.py tests/server/access/test_tokens.py",
        (
            M(
                "takes-a-revoked-token",
                "return and_(Token.revoke_time.is_(None), lasts)",
                "return lasts",
            ),
            M(
                "takes-an-expired-token",
                "return and_(Token.revoke_time.is_(None), lasts)",
                "return Token.revoke_time.is_(None)",
            ),
            M("keeps-secrets", "hashlib.sha256(token.encode()).hexdigest()", "token"),
            M(
                "revokes-one-token-of-a-bot",
                "Token.bot_id == bot_id, Token.revoke_time.is_(None))\n    connection.execute(old",
                "Token.bot_id == 0)\n    connection.execute(old",
            ),
            M(
                "shows-other-owners-tokens",
                "query = query.where(or_(Token.owner_id == owner_id, Bot.owner_id == owner_id))",
                "pass",
            ),
        ),
    ),
    Group(
        "store/meijin/store/ladders",
        "tests/store/ladders/test_sequencer.py tests/store/ladders/test_runs.py tests/ladder/test_exactly_once.py",
        (
            M("sequences-twice", "        Ladder.sequenced == portion.after,\n", ""),
            M("sequences-beside-a-void", "        Ladder.voided == portion.voided,\n", ""),
            M("marks-no-repeat", "_MARK.execute(connection, rows)", "pass"),
            M(
                "publishes-an-older-run",
                "ladder.where(Ladder.run_revision < run.revision)",
                "ladder",
            ),
            M("forgets-final-runs", "        RatingRun.final_of.is_(None),\n    )", "    )"),
            M("forgets-the-last-of-a-day", "        RatingRun.id.not_in(last_of_days),\n", ""),
        ),
    ),
    Group(
        "ladder/meijin/ladder",
        "tests/ladder/test_tally.py tests/ladder/test_refresh.py tests/ladder/verification",
        (
            M("rates-repeats", "self.repeats += 1\n            return", "self.repeats += 1"),
            M(
                "blames-white-for-black",
                "(black if fault == 1 else white)",
                "(white if fault == 1 else black)",
            ),
            M(
                "chains-no-result",
                "{moves} {black} {white} {opening} {points}",
                "{moves} {black} {white} {opening}",
            ),
            M("links-nobody", "if black.component != white.component:", "if False:"),
            M("swaps-wins-and-losses", "[2 - points] += 1", "[points] += 1"),
            M(
                "keeps-tallies-of-no-run",
                "if not publish(connection, run):",
                "if publish(connection, run) is None:",
            ),
            M("verifies-no-lines", "yield from _first_line(kept.ratings, made.ratings, names)", ""),
            M("verifies-no-moves", "yield from problems(record)", ""),
            M("verifies-the-wrong-release", "if name not in ALGORITHMS:", "if False:"),
            M(
                "believes-any-history",
                "(self.games, self.chain) == (self.head.games, self.head.chain)",
                "True",
            ),
        ),
    ),
    Group(
        "ladder/meijin/ladder",
        "tests/ladder/test_pairing.py tests/server/tournaments/formats/test_ladder.py",
        (
            M("pairs-those-played-out", "closed[places] = closed[places[::-1]] = True", "pass"),
            M("pairs-within-components", "may_meet &= components[:, None] != components", "pass"),
            M("pairs-the-busy", "left[[pick.one, pick.other]] -= GAMES_OF_A_PAIR", "pass"),
        ),
    ),
    Group(
        "server/meijin/server",
        "tests/server/access/test_permissions.py",
        (
            M(
                "lets-bots-void-games",
                "        if permission:\n",
                '        if method.name == "VoidGame":\n            permission = pb.PERMISSION_READER\n        if permission:\n',
            ),
            M(
                "lets-owners-make-tournaments",
                "return OWNERS if settings.owner_tournaments else OPERATORS",
                "return OWNERS",
            ),
            M(
                "lets-people-do-all-when-open",
                "identity.kind in PEOPLE | SEATS or permission in STREAMS",
                "permission in STREAMS",
            ),
            M(
                "serves-methods-it-does-not-know",
                "if permission is None:\n        raise",
                "if False:\n        raise",
            ),
            M("reads-without-a-token", "return settings.reading is Reading.ANYONE", "return True"),
            M("looks-at-no-kind", "if identity.kind not in scopes:", "if False:"),
        ),
    ),
    Group(
        "server/meijin/server",
        "tests/server/access",
        (
            M(
                "lets-anyone-list-tokens",
                "        if permission:\n",
                '        if method.name == "ListTokens":\n            permission = pb.PERMISSION_ANYONE\n        if permission:\n',
            ),
            M(
                "revokes-the-last-operator",
                "if old.kind is TokenKind.OPERATOR and not",
                "if False and not",
            ),
            M("makes-tokens-without-end", "if count >= MAX_TOKENS:", "if False:"),
            M(
                "lets-owners-make-operators",
                "if request.kind is not TokenKind.OWNER or not is_own:",
                "if not is_own:",
            ),
        ),
    ),
    Group(
        "server/meijin/server/api",
        "tests/server/api/test_limits.py tests/server/api/test_interceptor.py",
        (
            M("opens-streams-without-end", "if self._held[key] >= self._most:", "if False:"),
            M("frees-no-place", "counter[key] -= 1", "pass"),
            M("has-all-wait", "if wait > LONGEST_WAIT.total_seconds():", "if False:"),
            M(
                "tells-of-its-errors",
                'MeijinError(f"internal error, incident {incident}")',
                "MeijinError(str(error))",
            ),
            M("takes-any-size", "if len(data) > most:", "if False:"),
            M("counts-an-ipv6-address-alone", "(int(host), 64)", "(int(host), 128)"),
        ),
    ),
    Group(
        "bots/meijin/bots/sdk",
        "tests/bots/sdk/test_running_game.py tests/bots/sdk/test_games.py tests/bots/sdk/test_client.py"
        " tests/bots/sdk/test_position.py tests/bots/sdk/test_stream.py",
        (
            M(
                "answers-for-an-ended-game",
                "if self.running and self._pending is not None and",
                "if self._pending is not None and",
            ),
            M(
                "searches-a-turn-twice",
                "self._pending.ply == turn.ply:\n            return False",
                "False:\n            return False",
            ),
            M("trusts-the-bots-board", "if not moves.startswith(known):", "if False:"),
            M("spends-no-waiting", "position.spend(int(waited / _MILLISECOND))", "pass"),
            M(
                "sends-pongs-late",
                "if self._pongs:\n            pongs",
                "if self._pongs and not self._actions:\n            pongs",
            ),
            M("goes-on-after-goodbye", "self.closed = True", "pass"),
            M(
                "never-waits-longer",
                "self._next = min(2 * delay, self._longest)",
                "self._next = delay",
            ),
            M("returns-all-at-once", "return delay * self._rng.uniform(0.5, 1)", "return delay"),
            M(
                "keeps-no-reserve",
                "time = left - min(RESERVE, left * RESERVED_SHARE)",
                "time = left",
            ),
            M(
                "keeps-games-that-are-gone",
                "if not game.running:\n                self._leave",
                "if False:\n                self._leave",
            ),
            M("takes-two-games-of-a-number", "if started.game in self._running:", "if False:"),
            M("takes-any-first-message", 'if not message.HasField("welcome"):', "if False:"),
        ),
    ),
    Group(
        "bots/meijin/bots/bridge",
        "tests/bots/bridge/test_gomocup.py tests/bots/bridge/test_gtp.py"
        " tests/bots/bridge/test_process.py tests/bots/bridge/test_settings.py",
        (
            M(
                "mistakes-own-stones",
                "OWN if (len(moves) - ply) % 2 == 0 else",
                "OWN if ply % 2 == 0 else",
            ),
            M(
                "starts-no-rectangle",
                'if variant.width == variant.height:\n        return f"START',
                'if True:\n        return f"START',
            ),
            M("takes-a-hint-for-an-answer", "return passed < self._unsettled", "return passed < 0"),
            M("keeps-endless-lines", "(self._rest + rest)[:MAX_LINE]", "self._rest + rest"),
            M("keeps-no-margin", "min(margin // _MILLISECOND, int(available * MARGIN_SHARE))", "0"),
            M("tells-of-the-whole-clock", "available = min(available, share)", "pass"),
            M("turns-rows-around", "variant.height - int(match[2])", "int(match[2]) - 1"),
            M(
                "forgets-late-engines",
                "max(taken - told, before * FORGETTING)",
                "taken - told",
            ),
        ),
    ),
    Group(
        "web/meijin/web",
        "tests/web/test_site.py tests/web/test_account.py tests/web/test_cache.py tests/web/test_host.py"
        " tests/web/test_hostile_texts.py tests/web/test_api.py",
        (
            M("takes-other-sites-forms", 'return site == "same-origin"', "return True"),
            M("takes-forms-of-no-origin", "netloc == host", 'netloc in {host, ""}'),
            M(
                "answers-to-any-name",
                'return not self.is_local or name == "localhost" or',
                "return True or",
            ),
            M("may-be-framed", 'ancestors = "*" if is_framed else', 'ancestors = "*" if True else'),
            M("sends-people-elsewhere", "return path if is_own and", "return path if"),
            M(
                "keeps-private-pages",
                'stored.response(self.http, control="no-store")',
                'stored.response(self.http, control="no-cache")',
            ),
            M("escapes-nothing", "autoescape=True", "autoescape=False"),
            M("reads-endless-bodies", "if len(body) > MAX_BODY:", "if False:"),
            M("takes-a-path-twice", 'if getattr(found, name) not in {"", value}:', "if False:"),
            M("writes-pages-without-end", "if self._waiting >= MAX_WAITING:", "if False:"),
            M("keeps-pages-without-end", "while self._bytes > MAX_BYTES:", "while False:"),
            M(
                "serves-stale-pages",
                "self._clock() - kept.made < max_age",
                "self._clock() - kept.made < 1000 * max_age",
            ),
        ),
    ),
    Group(
        "web/meijin/web",
        "tests/web/test_programs.py",
        (
            M("reads-files-of-any-size", "int(length[:15]) > most + MAX_FORM_BYTES", "False"),
            M("takes-uploads-without-end", "uploads.total() >= MAX_UPLOADS", "False"),
            M("takes-any-uploads-of-one", "uploads[token] >= MAX_OF_VISITOR", "False"),
            M("keeps-places-of-cut-uploads", "        uploads[token] -= 1", "        pass"),
            M(
                "hashes-on-the-loop",
                "await asyncio.to_thread(_digest, file.file)",
                "_digest(file.file)",
            ),
            M(
                "reads-what-nobody-may-send",
                "most = await _most_bytes(request)",
                "most = 10**9",
            ),
            M("tells-of-no-change", "status.SerializeToString(deterministic=True)", 'b""'),
            M(
                "reports-who-leaves",
                'except (TimeoutError, ClientDisconnect):\n            raise bad_request("the form',
                'except TimeoutError:\n            raise bad_request("the form',
            ),
        ),
    ),
    Group(
        "web/meijin/web",
        "tests/web/live/test_delay.py tests/web/pages/test_progress.py",
        (
            M("shows-thoughts-at-once", "now + THOUGHTS_FACTOR * self._delay", "now + self._delay"),
            M(
                "holds-nothing-back",
                "self._add(now + self._delay, without",
                "self._add(now, without",
            ),
            M("leaves-thoughts-in-moves", "without_thoughts(message))", "message)"),
            M(
                "foresees-an-end-of-what-is-over",
                "tournament.state != pb.TOURNAMENT_STATE_RUNNING or",
                "",
            ),
        ),
    ),
    Group(
        "store/meijin/store",
        "tests/store/test_power_cuts.py",
        (
            M("begins-without-syncing-the-file", "os.fsync(self._segment.file)", "pass"),
            M(
                "begins-without-syncing-the-folder",
                "            sync_path(self.folder)\n        except",
                "        except",
            ),
            M("syncs-no-head", "            self._head.sync()", "            pass"),
            M(
                "deletes-before-it-begins",
                "        try:\n            self._open_segment()",
                "        self.drop_old()\n        try:\n            self._open_segment()",
            ),
            M(
                "deletes-before-the-database-knows",
                "self._head.sync()\n        return",
                "self._head.sync()\n        self.drop_old()\n        return",
            ),
            M("syncs-no-entry", "        _sync_data(self._segment.file)", "        pass"),
            M(
                "goes-on-after-a-failed-sync",
                "self._has_failed = True\n        _sync_data",
                "_sync_data",
            ),
            M("syncs-no-new-segments-name", "sync_path(path.parent)", "pass"),
            M("syncs-no-new-folders-name", "sync_path(self.folder.parent)", "pass"),
            M(
                "deletes-one-segment-too-many",
                "for path in self._doomed:",
                "for path in segments_in(self.folder)[: len(self._doomed) + bool(self._doomed)]:",
            ),
            M(
                "deletes-before-it-syncs",
                "self._has_failed = True\n        _sync_data",
                "self.settle()\n        self._has_failed = True\n        _sync_data",
            ),
            M("looks-at-no-checksum", "zlib.crc32(link, self._seed)) != checksum", "0) == -1"),
            M(
                "takes-a-short-write-for-a-whole-one",
                "written = os.pwrite(self._segment.file, data, self._size)",
                "written = len(data) + 0 * os.pwrite(self._segment.file, data, self._size)",
            ),
            M(
                "opens-the-log-late",
                "        self.open_new()\n        self.first",
                "        self.first",
            ),
            M(
                "names-a-backup-before-it-is-synced",
                "sync_path(part)\n        part.rename",
                "part.rename",
            ),
            M(
                "syncs-no-backups-name",
                "        sync_path(target.parent)\n    finally",
                "    finally",
            ),
            M("keeps-the-log", "log.rename(log_aside)", "pass"),
            M("syncs-no-copy", "    sync_path(part)\n\n", "\n"),
            M("syncs-no-name", "        raise\n    sync_path(file.parent)", "        raise"),
        ),
    ),
    Group(
        "store/meijin/store",
        "tests/simulation/test_simulation.py",
        (
            M(
                "forgets-a-move",
                "short = {game_id for",
                "[moves.pop() for moves in self.of_game.values() if moves]\n        short = {game_id for",
            ),
        ),
    ),
    Group(
        "game/meijin/game/arbiter",
        "tests/simulation/test_simulation.py",
        (
            M(
                "takes-any-ply",
                "        if ply != len(board.moves) or not is_asked or",
                "        ply = len(board.moves)\n        if not is_asked or",
            ),
            M(
                "forgets-clocks",
                "self.clock.charge(seat, charged_ns)\n            self.credits[seat].charge = raw_ns, max(",
                "self.credits[seat].charge = raw_ns, max(",
            ),
            M(
                "charges-every-absence",
                "return self._allowances[seat].absence_ns - self._credits[seat].absence_ns",
                "return 0",
            ),
            M(
                "excuses-no-outage",
                "if self._presence.count:\n            self._presence.excuse",
                "if False:\n            self._presence.excuse",
            ),
            M(
                "hears-no-resignation",
                "self.outcome = Outcome(Ending.RESIGN, self.position.color_of(seat.other))",
                "pass",
            ),
        ),
    ),
    Group(
        "server/meijin/server",
        "tests/simulation/test_simulation.py",
        (
            M(
                "tells-before-the-commit",
                "await self._append_again(logged, keep_from)\n",
                "asyncio.get_running_loop().call_later(0.001, self._log.append, logged)\n",
            ),
            M(
                "tells-what-is-not-logged",
                "await self._append_again(logged, keep_from)\n",
                "pass\n",
            ),
            M("forgets-that-it-tries-again", "entry=entry, is_retry=True", "entry=entry"),
            M(
                "shows-what-is-not-committed",
                "[: len(moves) - self.uncommitted_stones] if self.is_uncommitted else moves",
                "",
            ),
            M(
                "does-not-ask-again",
                "if seat is self.arbiter.seat_to_act and not self.is_uncommitted:",
                "if False:",
            ),
            M(
                "asks-before-the-commit",
                "self.arbiter.seat_to_act and not self.is_uncommitted:",
                "self.arbiter.seat_to_act:",
            ),
            M("asks-twice", "self._turns.append(game)", "self._turns += [game, game]"),
            M(
                "forgets-a-choice",
                "color=color_to_proto(game.color(seat)),\n        opp",
                "color=seat.value,\n        opp",
            ),
            M(
                "credits-no-stall",
                "Moment(now_ns, self.counted_ns + now_ns - self._standing_since(now_ns))",
                "Moment(now_ns, self.counted_ns)",
            ),
            M(
                "counts-stalls-late",
                "TIMER_RESOLUTION_NS = 1_000_000",
                "TIMER_RESOLUTION_NS = 1_000_000_000",
            ),
            M("probes-nothing", "if self.send is None or self._probe_ns is not None:", "if True:"),
            M("excuses-no-restart", "leave(seat, moment, excused=True)", "leave(seat, moment)"),
            M(
                "forgets-what-it-told",
                "_is_contradicted(known, moves):\n            self",
                "_is_contradicted(known, moves[:-1]):\n            self",
            ),
            M(
                "truncates-running-games",
                "entry.truncate_before = self.segments.take_garbage()",
                "entry.truncate_before = entry.key if entry.moves else None",
            ),
            M(
                "forgets-a-release",
                "        has_ended = False\n        for game in batch.moved",
                "        if not batch.entry.id % 16:\n            return\n        has_ended = False\n        for game in batch.moved",
            ),
            M(
                "ends-games-twice",
                "        due = self._deadlines.take_due(moment, self.running)",
                "        for game in self._ending.values():\n            self._journal.add_end(game)\n        due = self._deadlines.take_due(moment, self.running)",
            ),
            M(
                "counts-void-games",
                "if outcome.ending is Ending.VOID:\n            return\n        run.count(game, outcome.result)",
                "run.count(game, type(outcome.result).DRAW if outcome.ending is Ending.VOID else outcome.result)",
            ),
            M("loses-void-games", "            run.pending.add(game.pairing)", "            pass"),
            M(
                "ends-the-newer-stream",
                "if player is None or player.session is not session:\n            return",
                "if player is None or player.session is None:\n            return\n        session = player.session",
            ),
            M(
                "keeps-who-leaves",
                "if player is None or player.session is not session:",
                "if True:",
            ),
            M(
                "looks-at-undecodable-messages",
                "            check_decoded(request)\n            command",
                "            command",
            ),
            M("takes-any-label", "MAX_LABEL = 40", 'MAX_LABEL = "many"'),
        ),
    ),
    Group(
        "programs/meijin/programs/archive",
        "tests/programs/test_archive.py",
        (
            M("unpacks-without-end", "if self._unpacked > MAX_UNPACKED_BYTES:", "if False:"),
            M("trusts-declared-sizes", "if found > entry.unpacked_bytes:", "if False:"),
            M("keeps-damaged-bytes", "or crc != entry.crc:", "or False:"),
            M("lets-entries-overlap", "if header.local_offset != place:", "if False:"),
            M("lets-bytes-hide", "if place != end.directory_offset:", "if False:"),
            M("reads-directories-without-end", "if directory_bytes > _MAX_DIR", "if 0 > _MAX_DIR"),
            M("unpacks-links", "(kind == stat.S_IFLNK,", "(False,"),
            M("unpacks-devices", "(kind not in (0, wanted),", "(kind == stat.S_IFLNK,"),
            M("climbs-out", '".." in parts,', "False,"),
            M("takes-absolute-names", 'name.startswith("/") or _DRIVE', "_DRIVE"),
            M("takes-names-of-drives", " or _DRIVE.match(name) is not None,", ","),
            M("takes-control-characters", "not name.isprintable(),", "False,"),
            M("takes-names-twice", "if str(path) in self._listed:", "if False:"),
            M("tells-capitals-apart", '("NFKC", name).casefold()', '("NFKC", name)'),
            M("tells-forms-apart", "if before != name:", "if before.lower() != name.lower():"),
            M("makes-files-folders", "if is_folder is not (name in self._folders):", "if False:"),
            M("takes-the-arenas-folder", "parts[0] == OWN_FOLDER,", "False,"),
            M("counts-no-folders", "if len(self._by_key) > MAX_ENTRIES:", "if False:"),
            M("reads-one-of-two-headers", "(magic, flags, method, name) != wanted", "False"),
            M("takes-more-than-deflate", "not in (STORED, DEFLATED),", "== 12,"),
            M("takes-two-ends", "if _END_MAGIC in tail[place", "if False and tail[place"),
            M("takes-second-sizes", "if kind in _SECOND:", "if False:"),
            M("takes-programs-of-any-size", "if size > max_bytes:", "if False:"),
        ),
    ),
    Group(
        "programs/meijin/programs/depot",
        "tests/programs/test_depot.py",
        (
            M("keeps-bytes-of-another-digest", "if found != self.digest:", "if False:"),
            M(
                "takes-more-than-told",
                "> self.size:\n            self.abort",
                "< 0:\n            self.abort",
            ),
            M("finishes-too-early", "if self.offset < self.size:", "if False:"),
            M("reads-damaged-bytes", "if found.hexdigest() != digest:", "if False:"),
            M(
                "keeps-parts-on-a-full-disk",
                "        self.abort()\n        return DepotFull",
                "        return DepotFull",
            ),
            M("lets-uploads-meet", "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass"),
            M("follows-links-of-uploads", " | os.O_NOFOLLOW", ""),
            M("takes-any-name", "if not is_digest(text):", "if False:"),
            M("sweeps-the-fresh", "and change_time < before", ""),
            M(
                "sweeps-what-runs",
                "with suppress(FileNotFoundError, UploadInProgressError):\n        if",
                "with suppress(FileNotFoundError):\n        path.unlink()\n        return True\n        if",
            ),
        ),
    ),
    Group(
        "programs/meijin/programs/prepared",
        "tests/programs/test_prepared.py",
        (
            M(
                "keeps-half-a-tree",
                "    finally:\n        remove_folder(tree)",
                "    finally:\n        pass",
            ),
            M("keeps-the-masks-modes", "path.chmod(FOLDER_MODE)", "pass"),
            M("starts-no-engine", "(tree / program).chmod(PROGRAM_MODE)", "pass"),
            M("installs-what-is-missing", "        if missing:", "        if False:"),
            M("waits-for-pip-without-end", "timeout=timeout.total_seconds(),", "timeout=None,"),
        ),
    ),
    Group(
        "server/meijin/server/access",
        "tests/server/api/test_hosting.py",
        (
            M(
                "takes-late-programs",
                "arrival is not None and arrival.is_over(caller.time)",
                "False",
            ),
            M("takes-programs-of-the-banned", "(error := refusal(bot)) is not None", "False"),
            M("counts-no-programs", "held.programs >= quota.programs", "False"),
            M("counts-no-bytes-of-programs", "held.size + size > quota.size", "False"),
            M("shows-programs-of-others", "if is_foreign or is_another:", "if False:"),
            M("shows-programs-of-other-bots", "is_foreign or is_another", "is_foreign"),
            M("plays-with-any-program", "row.state is not ProgramState.ADMITTED:", "False:"),
            M(
                "admits-what-was-never-examined",
                "state is ProgramState.ADMITTED and row.hello is None",
                "False",
            ),
            M("lets-owners-suspend", "self.state not in {None, ProgramState.RETIRED}", "False"),
        ),
    ),
    Group(
        "server/meijin/server/api/services",
        "tests/server/api/test_hosting.py",
        (
            M("keeps-what-was-refused", "await upload.delete()", "pass"),
            M(
                "deletes-what-another-has",
                "if wanted.digest not in await self._storage.read(store.digests_in_use):",
                "if True:",
            ),
            M("takes-chunks-of-any-size", "if len(request.chunk) > MAX_CHUNK_BYTES:", "if False:"),
            M("takes-a-byte-a-chunk", "        chunks -= 1\n", ""),
            M("waits-for-stalled-uploads", "limit = min(STALL_LIMIT", "limit = max(STALL_LIMIT"),
            M(
                "takes-two-uploads-of-a-bot",
                "self._limits.uploads_of_bot.hold(bot_id)",
                "ExitStack()",
            ),
            M("lists-programs-of-all", "owner_id=caller.owner_id,\n        state", "state"),
            M("leaves-lost-bytes", " and await asyncio.to_thread(depot.has, wanted.digest)", ""),
        ),
    ),
    Group(
        "server/meijin/server/match",
        "tests/server/match/test_hosted.py",
        (
            M("slows-hosts", "        effects += actions.total", "        effects = actions.total"),
            M("lets-others-measure", "if session.capabilities.is_hosted:", "if True:"),
            M("measures-any-turn", " or game.arbiter.board.ply != ply:", ":"),
        ),
    ),
    Group(
        "hosting/meijin/hosting",
        "tests/hosting",
        (
            M("freezes-who-is-to-end", "            hearing.cancel()  #", "            pass  #"),
            M("serves-who-came-first", "(taken[each], self._served.get(each, 0))", "0"),
            M("hears-floods", "self._relay.unexpected > MOST_UNEXPECTED", "False"),
            M("blames-the-host", "is_fault=isinstance(error, InvalidBotError)", "is_fault=False"),
            M(
                "waits-for-a-hello",
                "async with asyncio.timeout(self._plan.start_ms / 1000):",
                "if 1:",
            ),
            M("takes-answers-to-another-turn", " and action.ply == asked.ply:", ":"),
            M("runs-other-bytes", "if digest.hexdigest() != told.digest:", "if False:"),
        ),
    ),
    Group(
        "store/meijin/store/programs",
        "tests/store/programs",
        (
            M("hears-dead-workers", "Program.attempts == taken.attempts", "Program.id == taken.id"),
            M("takes-programs-of-others", "Program.lease_time <= now", "Program.id > 0"),
            M("plays-with-older-programs", "if not connection.scalar(newer):", "if True:"),
            M(
                "plays-with-suspended-programs",
                "        Program.state == ProgramState.ADMITTED,\n    )\n    return read_row",
                "    )\n    return read_row",
            ),
            M("overwrites-a-newer-state", ", Program.state == program.state", ""),
            M(
                "plays-with-retired-programs",
                "connection.execute(change.values(program_id=None))",
                "pass",
            ),
            M("keeps-any-log", "if len(encoded) <= MAX_LOG_BYTES:", "if True:"),
            M("keeps-control-characters", 'if each.isprintable() or each == "\\t"', "if True"),
        ),
    ),
)
