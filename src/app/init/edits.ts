import { readFileSync } from "node:fs";
import { join } from "node:path";
import { editYaml, textAt, type YamlEdit } from "../../config/edit-yaml.ts";
import type { BookedNetwork } from "../../networks/network.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { type Answers, type Key, NONE } from "./answers.ts";
import { MAIN_FILE, neededSymbols, rpcText, scheduleText, tokenText, tradedSymbols, walletText } from "./files.ts";
import type { Present } from "./present.ts";

/** A file that is there, with what it is to say instead. */
export interface EditedFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** one line a change: what stood there, and what will */
  readonly changes: readonly string[];
}

/** What is wanted of a folder that has a configuration. */
export interface Wanted {
  readonly folder: string;
  readonly present: Present;
  readonly answers: Answers;
  /** answers that nobody gave, of what is not there */
  readonly unsaid: ReadonlySet<Key>;
  readonly network: BookedNetwork;
  /** the largest single trade, where the present one is too small for the answers */
  readonly maxTrade: string | undefined;
}

/** The files that other answers change: only the values that are others, everything else as it stands. */
export function editedFiles(wanted: Wanted): readonly EditedFile[] {
  const { folder, present } = wanted;
  const planned: readonly [string | undefined, readonly YamlEdit[]][] = [
    [MAIN_FILE, mainEdits(wanted)],
    [present.policyFile, policyEdits(wanted)],
    [present.strategyFile, strategyEdits(wanted)],
  ];
  return planned.flatMap(([path, edits]) => {
    if (path === undefined || edits.length === 0) return [];
    const before = readFileSync(join(folder, path), "utf8");
    // A file elsewhere may be on another disk, where nothing is put in its place at once.
    const after = path.startsWith("..") ? undefined : editYaml(before, edits);
    const changes = edits.map(({ path: keys, text }) => {
      return `${path}: ${keys.join(".")}: ${textAt(before, keys) ?? "(not there)"} -> ${text}`;
    });
    if (after !== undefined) return [{ path, before, after, changes }];
    throw new CommandFailure(
      EXIT.no,
      `nothing was changed, because this has to be done by hand:\n${changes.join("\n")}`,
    );
  });
}

function differs({ present, answers }: Wanted, keys: readonly (keyof Answers)[]): boolean {
  return keys.some((key) => answers[key] !== (present.answers[key] ?? answers[key]));
}

/** The answers without what nobody was asked: what strategies sell and buy that init leaves alone. */
function asked({ present, answers }: Wanted): Answers {
  return present.strategyFile === undefined ? { ...answers, sell: "", buy: "" } : answers;
}

function mainEdits(wanted: Wanted): readonly YamlEdit[] {
  const { present, answers, network } = wanted;
  const { tokens } = present.configuration;
  const missing = neededSymbols(asked(wanted)).filter((symbol) => !tokens.has(symbol));
  return [
    ...(differs(wanted, ["rpc"]) ? [{ path: ["network", "rpc"] as const, text: rpcText(answers.rpc) }] : []),
    ...(differs(wanted, ["wallet"]) ? [{ path: ["wallets", "main"] as const, text: walletText(answers.wallet) }] : []),
    ...missing.map((symbol): YamlEdit => ({ path: ["tokens", symbol], text: tokenText(network, symbol) })),
  ];
}

function policyEdits(wanted: Wanted): readonly YamlEdit[] {
  const { folder, present, answers, unsaid, maxTrade } = wanted;
  const text = readFileSync(join(folder, present.policyFile), "utf8");
  const listed = textAt(text, ["tokens"]);
  const names = listed?.split(/[\s,"'[\]]+/);
  const missing = tradedSymbols(asked(wanted)).filter((symbol) => names?.includes(symbol) === false);
  const money = (key: string, value: string): YamlEdit => ({ path: [key], text: JSON.stringify(value) });
  return [
    ...(maxTrade === undefined ? [] : [money("max_trade", maxTrade)]),
    ...(differs(wanted, ["maxPerDay"]) ? [money("max_per_day", answers.maxPerDay)] : []),
    ...(answers.maxPerMonth === present.answers.maxPerMonth || unsaid.has("maxPerMonth")
      ? []
      : [money("max_per_month", answers.maxPerMonth)]),
    ...(listed !== undefined && missing.length > 0
      ? [{ path: ["tokens"] as const, text: `${listed.replace(/\s*\]$/, "")}, ${missing.join(", ")}]` }]
      : []),
  ];
}

function strategyEdits(wanted: Wanted): readonly YamlEdit[] {
  const { present, answers } = wanted;
  if (present.strategyFile === undefined) return [];
  const { total } = answers;
  return [
    ...(differs(wanted, ["sell"]) ? [{ path: ["sell"] as const, text: JSON.stringify(answers.sell) }] : []),
    ...(differs(wanted, ["buy"]) ? [{ path: ["buy"] as const, text: answers.buy }] : []),
    ...(differs(wanted, ["at", "timezone"]) ? [{ path: ["schedule"] as const, text: scheduleText(answers) }] : []),
    ...(differs(wanted, ["total"]) ? [budgetEdit(present.answers.total, total)] : []),
  ];
}

function budgetEdit(before: string | undefined, total: string): YamlEdit {
  if (total === NONE) return { path: ["budget"], text: undefined };
  return before === undefined || before === NONE
    ? { path: ["budget"], text: `{ total: ${JSON.stringify(total)} }` }
    : { path: ["budget", "total"], text: JSON.stringify(total) };
}
