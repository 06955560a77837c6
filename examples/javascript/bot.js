// A whole bot in JavaScript, to be copied: `node bot.js [NAME]`. docs/protocol.md tells the rest.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setImmediate as yieldToReader, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import { chooseCell, chooseColor, placeStones } from "./moves.js";

const PROTOS = fileURLToPath(new URL("../../proto", import.meta.url));
const SHAPES = { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true };
const definition = protoLoader.loadSync("meijin/v1/play_service.proto", {
  ...SHAPES,
  includeDirs: [PROTOS],
});
const { PlayService } = grpc.loadPackageDefinition(definition).meijin.v1;

const SERVER = process.env.MEIJIN_SERVER || "127.0.0.1:7464";
const TOKEN = process.env.MEIJIN_TOKEN?.trim();
const TLS = "grpcs://";
const CHANNEL = {
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 1_000,
};
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;
const SETTLED_AFTER_MS = 1_000; // a stream that has lived as long was no failure
const PATIENCE_MS = 10_000; // for the answer to the hello
const FINAL = ["UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT"]
  .concat("ABORTED", "UNIMPLEMENTED") // to come back would be of no use
  .map((name) => grpc.status[name]);

const SOURCES = ["bot.js", "moves.js"].map((name) => readFileSync(new URL(name, import.meta.url)));
const hello = {
  protocol_version: 1,
  bot_name: process.argv[2] ?? (TOKEN ? "" : "javascript"),
  engine: { version: "1", digest: digestOf(SOURCES) },
  capabilities: {
    rules: ["FREESTYLE", "STANDARD", "RENJU", "CARO", "CARO_EXACT"].map((name) => `RULE_${name}`),
    opening_rules: ["FREE", "SWAP1", "SWAP", "SWAP2"].map((name) => `OPENING_RULE_${name}`),
    min_board_size: 5,
    max_board_size: 22,
    max_games: 16,
  },
  resume_session_id: "",
};
const leaving = new AbortController();

function digestOf(sources) {
  const hash = createHash("sha256");
  for (const source of sources) hash.update(source);
  return hash.digest("hex").slice(0, 16);
}

function connect() {
  const address = SERVER.replace(/^grpcs?:\/\//, "");
  const target = /:\d+$/.test(address) ? address : `${address}:7464`;
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\]):\d+$/.test(target);
  const isSafe = isLocal || SERVER.startsWith(TLS) || process.env.MEIJIN_PLAINTEXT === "true";
  if (TOKEN && !isSafe) {
    giveUp(`the token would go to ${target} in plain text; write ${TLS}${target}`);
  }
  const authorities = process.env.MEIJIN_CA ? readFileSync(process.env.MEIJIN_CA) : null;
  const credentials = SERVER.startsWith(TLS)
    ? grpc.credentials.createSsl(authorities)
    : grpc.credentials.createInsecure();
  const proxy = isLocal ? { "grpc.enable_http_proxy": 0 } : {};
  return new PlayService(target, credentials, { ...CHANNEL, ...proxy });
}

// Plays on one stream until it ends, however it does; resolves to its status.
function play(client) {
  const metadata = new grpc.Metadata();
  if (TOKEN) metadata.set("authorization", `Bearer ${TOKEN}`);
  const call = client.Play(metadata);
  const games = new Map(); // by their numbers, which mean nothing on another stream
  const waiting = [];
  let isOpen = true;
  let admittedAt = Infinity;
  let isSearching = false;
  const impatience = setTimeout(() => call.cancel(), PATIENCE_MS);

  // Answers everything that waits in one message, and lets the reader answer pings in between.
  async function search() {
    isSearching = true;
    while (isOpen && waiting.length > 0) {
      const actions = { plays: [], placements: [], choices: [], resigns: [], failures: [] };
      for (const { game, turn, readAt } of waiting.splice(0)) {
        await yieldToReader();
        if (games.get(turn.game) === game) answer(game, turn, readAt, actions); // else it has ended
      }
      const hasAny = Object.values(actions).some((list) => list.length > 0);
      if (isOpen && hasAny) call.write({ actions });
    }
    isSearching = false;
  }

  const handlers = {
    welcome(welcome) {
      clearTimeout(impatience);
      admittedAt = performance.now();
      hello.resume_session_id = welcome.session_id;
      console.log(`connected as ${welcome.bot_name} to ${SERVER}`);
    },
    ping: ({ sequence }) => call.write({ pong: { sequence } }),
    draining: () => console.log("the server is about to stop; games go on after its return"),
    paused: ({ reason }) => console.error(`no new games for a while: ${reason}`),
    events(events) {
      for (const { game, outcome } of events.ended) {
        console.log(`game ${games.get(game)?.game_id}: ${outcome.winner}, ${outcome.ending}`);
        games.delete(game);
      }
      for (const game of events.started) {
        games.set(game.game, game);
        console.log(`game ${game.game_id} against ${game.opponent}: ${game.color}`);
      }
      for (const { game, color } of events.choices) games.get(game).color = color;
      const readAt = performance.now();
      for (const turn of events.turns) waiting.push({ game: games.get(turn.game), turn, readAt });
      for (const { detail } of events.notices) console.error(`refused: ${detail}`);
      if (!isSearching) search();
    },
  };

  function leave() {
    if (admittedAt === Infinity || games.size > 0) return call.cancel(); // games wait for the bot
    call.end({ goodbye: {} });
    setTimeout(() => call.cancel(), 1_000).unref();
  }

  return new Promise((resolve) => {
    call.on("data", (response) => handlers[response.fact]?.(response[response.fact]));
    call.on("error", () => {}); // the status says the same
    call.on("status", (status) => {
      isOpen = false;
      clearTimeout(impatience);
      leaving.signal.removeEventListener("abort", leave);
      resolve({ ...status, isSettled: performance.now() - admittedAt >= SETTLED_AFTER_MS });
    });
    leaving.signal.addEventListener("abort", leave);
    call.write({ hello });
  });
}

// Adds the answer to a turn; a game that the program fails in is lost, and the others go on.
function answer({ variant, color }, { game, ply, moves, task }, readAt, actions) {
  const add = (list, what) => {
    const thinking_us = Math.max(1, Math.round(1_000 * (performance.now() - readAt)));
    list.push({ game, ply, ...what, thinking_us });
  };
  try {
    if (task?.may_choose) return add(actions.choices, { color: chooseColor(variant, moves) });
    if (task) return add(actions.placements, { cells: placeStones(variant, task.stones) });
    const cell = chooseCell(variant, moves, color);
    if (cell === null) actions.resigns.push({ game });
    else add(actions.plays, { cell });
  } catch (error) {
    console.error(error);
    actions.failures.push({ game, message: `${error}` });
  }
}

function giveUp(reason) {
  console.error(`bot.js: ${reason}`);
  process.exit(1);
}

async function main() {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => leaving.abort());
  const client = connect();
  let delay = FIRST_DELAY_MS;
  while (!leaving.signal.aborted) {
    const { code, details, isSettled } = await play(client);
    if (leaving.signal.aborted) break;
    if (FINAL.includes(code)) giveUp(details);
    if (isSettled) delay = FIRST_DELAY_MS;
    console.error(`coming back, since the stream has ended: ${details || "no reason given"}`);
    const wait = delay * (0.5 + Math.random() / 2);
    await sleep(wait, null, { signal: leaving.signal }).catch(() => {}); // a signal cuts it short
    delay = Math.min(2 * delay, LONGEST_DELAY_MS);
  }
  client.close();
}

await main();
