import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));
const BEGIN = "<!-- rooms: written by `npm run rooms` -->";
const END = "<!-- end of rooms -->";

/** Who imports whom: for each room of `src` the rooms that its files import. */
export function importsOfRooms(): ReadonlyMap<string, ReadonlySet<string>> {
  const rooms = readdirSync(SRC, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  return new Map(rooms.sort().map((room) => [room, importsOf(room)]));
}

function importsOf(room: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const file of readdirSync(`${SRC}${room}`, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const path = new URL(file, `file:///${room}/`);
    for (const [, target = ""] of readFileSync(`${SRC}${room}/${file}`, "utf8").matchAll(
      /(?:from|import\()\s*"(\.[^"]+)"/g,
    )) {
      const [, other = ""] = new URL(target, path).pathname.split("/");
      if (other !== room && other !== "package.json") found.add(other);
    }
  }
  return found;
}

/** An arrow for each import that no longer way of imports stands for. */
export function roomsDiagram(imports: ReadonlyMap<string, ReadonlySet<string>> = importsOfRooms()): string {
  const arrows = [...imports].flatMap(([room, targets]) => {
    const beyond = new Set([...targets].flatMap((target) => [...reachedFrom(target, imports)]));
    return [...targets]
      .filter((target) => !beyond.has(target))
      .sort()
      .map((target) => `  ${room} --> ${target}`);
  });
  return ["```mermaid", "flowchart TD", ...arrows, "```"].join("\n");
}

function reachedFrom(room: string, imports: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...(imports.get(room) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...(imports.get(next) ?? []));
  }
  return reached;
}

/** The page with the diagram of today between its two marks. @throws Error when the page has no marks */
export function withRooms(page: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from === -1 || to === -1) throw new Error(`the page lacks ${BEGIN} or ${END}`);
  return `${page.slice(0, from)}${BEGIN}\n\n${roomsDiagram()}\n\n${page.slice(to)}`;
}
