import type { FactoryFacts, Network } from "../networks/network.ts";
import { findBuiltIn } from "./build-network.ts";
import { checkShape } from "./check-shape.ts";
import { type Complaint, type Found, refuse } from "./complaint.ts";
import { readTextFile, resolveFrom, similarName } from "./files.ts";
import { networkFromFile } from "./network-file.ts";
import { makeProblem, type Problem } from "./problem.ts";
import { readYaml } from "./read-yaml.ts";
import type { MainFile } from "./schemas/main-schema.ts";
import { presetSchema } from "./schemas/preset-schema.ts";
import { problemOf, type Source } from "./source.ts";

/** Work on files that yields their problems. Between two files it yields nothing, and may be left alone for a while. */
export type Loading<T> = Generator<Problem | undefined, T>;

/** Work on one file, with the places of its complaints. */
export function* report<T>(source: Source, found: Found<T>): Loading<T> {
  for (let step = found.next(); ; step = found.next()) {
    if (step.done === true) return step.value;
    yield problemOf(source, step.value);
  }
}

/** A file as plain data. @param suggestion what helps where it is not there @returns undefined when there are none */
export function* readSource(file: string, suggestion?: string): Loading<Source | undefined> {
  const read = readTextFile(file);
  if ("text" in read) return yield* parseSource(file, read.text);
  yield makeProblem({ file, text: "" }, { message: `the file ${read.problem}`, suggestion });
  return undefined;
}

function* parseSource(file: string, text: string): Loading<Source | undefined> {
  const { source, problems } = readYaml(file, text);
  yield* problems;
  return source;
}

/** Reads a file that the main file names; that it cannot be read is a problem of the main file. */
export function* readNamed(main: Source, key: "policy", name: string): Loading<Source | undefined> {
  const file = resolveFrom(main.file, name);
  const read = readTextFile(file);
  if ("text" in read) return yield* parseSource(file, read.text);
  return yield* report(main, refuse`${key}: the file ${file} ${read.problem} -> ${nameHint(file)}`);
}

/** What to do about a path that leads nowhere. */
export function nameHint(path: string): string {
  const meant = similarName(path);
  return meant === undefined ? "a path is relative to the folder of this file" : `did you mean "${meant}"?`;
}

/** What is wrong with the number of a kind of pools, and what may stand there; undefined: nothing. */
export type KindProblem = (kind: number) => Pick<Complaint, "message" | "suggestion"> | undefined;

/** The facts of the configured network: built in, or from the preset file, with its text. */
export function* findPreset(
  main: Source,
  { name, preset }: MainFile["network"],
  kindProblem: KindProblem | undefined,
): Loading<{ preset: Network; text: string } | undefined> {
  if (preset === undefined) {
    const builtIn = yield* report(main, findBuiltIn(name));
    return builtIn && { preset: builtIn, text: "" };
  }
  const file = resolveFrom(main.file, preset);
  const read = readTextFile(file);
  if ("problem" in read) return yield* report(main, refuse`network.preset: the file ${file} ${read.problem}`);
  const source = yield* parseSource(file, read.text);
  if (source === undefined) return undefined;
  const { whole, fields } = yield* report(source, checkShape(presetSchema, source.data, { otherKeys: "allowed" }));
  if (kindProblem !== undefined) yield* report(source, checkKinds(fields.protocols ?? [], kindProblem));
  return whole && { preset: networkFromFile(whole), text: read.text };
}

function* checkKinds(protocols: readonly FactoryFacts[], kindProblem: KindProblem): Found<void> {
  for (const [index, { kind }] of protocols.entries()) {
    const problem = kindProblem(kind);
    if (problem !== undefined) yield { path: ["protocols", index, "kind"], ...problem };
  }
}
