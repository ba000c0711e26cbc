import { hash } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { refuse } from "./complaint.ts";
import type { LoadedStrategy } from "./configuration.ts";
import { CONFIG_BOUNDS } from "./defaults.ts";
import { listFolder } from "./files.ts";
import { makeProblem } from "./problem.ts";
import { type Loading, nameHint, readSource, report } from "./read-source.ts";
import type { Source } from "./source.ts";
import { buildStrategy } from "./strategy/build-strategy.ts";
import type { StrategyScope } from "./strategy/scope.ts";

const STRATEGY_FILE = /\.ya?ml$/;
const STRATEGY_ID = /^(?!global$)[a-z0-9][a-z0-9-]{0,62}$/;

/** A strategy and the text of its file. */
interface ReadStrategy {
  readonly strategy: LoadedStrategy | undefined;
  readonly text: readonly string[];
}

/** Whether a file of this name in the folder is a strategy. */
export function isStrategyFile(name: string): boolean {
  // Editors lock and copy beside a file under hidden names: `.#eth.yaml`, `._eth.yaml`.
  return !name.startsWith(".") && STRATEGY_FILE.test(name);
}

/** All strategies of a folder, or the one of a file. A file has one, and its name is the strategy's id. */
export function* loadStrategies(
  main: Source,
  place: string | { readonly file: string },
  scope: StrategyScope,
): Loading<readonly ReadStrategy[]> {
  const isFile = typeof place === "object";
  const folder = isFile ? dirname(resolve(place.file)) : place;
  const listed = isFile ? { names: [basename(place.file)] } : listFolder(folder);
  if ("problem" in listed) {
    yield* report(main, refuse`strategies: the folder ${folder} ${listed.problem} -> ${nameHint(folder)}`);
    return [];
  }
  const names = listed.names.filter(isStrategyFile);
  const most = CONFIG_BOUNDS.maxStrategies;
  if (names.length > most) {
    yield* report(main, refuse`strategies: the folder holds ${names.length} strategies; at most ${most} are run`);
    return [];
  }
  const seen = new Map<string, string>();
  const all: ReadStrategy[] = [];
  for (const name of names) {
    yield undefined;
    const file = resolve(folder, name);
    const id = name.replace(STRATEGY_FILE, "");
    const other = seen.get(id);
    const misnamed = STRATEGY_ID.test(id)
      ? undefined
      : "the file's name is the strategy's id: lower-case letters, digits and hyphens, and not global, which means all";
    const message = other === undefined ? misnamed : `the strategy "${id}" stands in ${other} too`;
    if (message !== undefined) yield makeProblem({ file, text: "" }, { message, suggestion: "rename the file" });
    seen.set(id, name);
    const source = yield* readSource(file);
    if (source !== undefined) all.push(yield* read(source, id, scope));
  }
  return all;
}

function* read(source: Source, id: string, scope: StrategyScope): Loading<ReadStrategy> {
  const { data, file, text } = source;
  const spec = yield* report(source, buildStrategy({ data, scope }, id));
  return { strategy: spec && { spec, file, hash: hash("sha256", text) }, text: textOf(source) };
}

/** What of a file counts for the hash of the configuration: its name and its text. */
export function textOf({ file, text }: Source): readonly string[] {
  return [file.slice(file.lastIndexOf("/") + 1), text];
}
