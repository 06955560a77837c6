// A client of the JSON API, typed by what openapi-typescript makes of the document.
import type { components, paths, webhooks } from "./meijin.ts";

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Value } } } };
}
  ? Value
  : never;
type Schemas = components["schemas"];
type Ended = NonNullable<webhooks["game.ended"]["post"]["requestBody"]>["content"]["application/json"];

declare const process: { argv: string[] };
const api = process.argv[2] + "/api/v1";

async function look<Path extends keyof paths>(_path: Path, place: string): Promise<Answer<Path>> {
  const answer = await fetch(api + place);
  if (!answer.ok) throw new Error(`${place}: ${answer.status}`);
  return answer.json() as Promise<Answer<Path>>;
}

async function make(wanted: Schemas["CreateTournamentRequest"]): Promise<Schemas["Tournament"]> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${api}/tournaments`, { method: "POST", headers, body: JSON.stringify(wanted) });
  const made = (await answer.json()) as Schemas["CreateTournamentResponse"];
  if (!made.tournament) throw new Error(JSON.stringify(made));
  return made.tournament;
}

function words(event: Ended): string {
  const winner: "black" | "white" | null | undefined = event.data.outcome?.winner;
  return `${event.data.black} ${winner} ${event.data.white}`;
}

const { games } = await look("/api/v1/games", "/games?state=finished&with_moves=true");
const explored = await look(
  "/api/v1/openings",
  "/openings?variant.width=5&variant.height=5&moves=a5&moves=a4",
);
const made = await make({
  settings: {
    bots: ["ada", "bob"],
    openings: [["a1", "b2"]],
    time_control: { initial_seconds: 90.5 },
    variant: { rule: "freestyle", width: 5, height: 5 },
  },
});
const [game] = games;
console.log(
  JSON.stringify({
    cells: game.moves.map((move) => move.cell),
    slowest: Math.max(...game.moves.map((move) => move.raw_time_seconds ?? 0)),
    ended: words({ type: "game.ended", timestamp: game.end_time ?? "", data: game }),
    counted: explored.counted_games + 0,
    initial: made.settings?.time_control?.initial_seconds,
    openings: made.settings?.openings,
  }),
);
