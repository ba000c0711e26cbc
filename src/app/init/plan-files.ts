import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { parseUsd } from "../../domain/money/price.ts";
import { NETWORKS } from "../../networks/book.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { rightsOfOthers } from "../file-rights.ts";
import { PRIVATE_FILE_MODE } from "../new-file.ts";
import type { Answers } from "./answers.ts";
import { ceilingsFor, countSlots } from "./ceilings.ts";
import { editedFiles } from "./edits.ts";
import { draftFiles, IGNORE_FILE, sideFiles } from "./files.ts";
import { networkOf, type Session, withDraft } from "./session.ts";
import type { PlannedFile } from "./write-all.ts";

/** Files to write, and in words what becomes another one. */
export interface FilePlan {
  readonly files: readonly PlannedFile[];
  readonly changes: readonly string[];
}

const OPEN_FILE_MODE = 0o644;

/** The files that the answers come to: new ones, or the present ones with other values. */
export async function planFiles(session: Session, answers: Answers): Promise<FilePlan> {
  const { folder, present } = session;
  const secrets = [...session.secrets].map(([path, text]) => plannedSecret(folder, path, text));
  const beside = [...sideFiles()].map(([path, text]) =>
    planned(folder, path, { text: besides(folder, path, text), mode: OPEN_FILE_MODE }),
  );
  const maxTrade = await tradeCeiling(session, answers);
  if (present === undefined) {
    const drafts = draftFiles(answers, { layout: session.layout, maxTrade: maxTrade ?? answers.maxPerDay });
    refuseExisting(folder, [...drafts.keys()]);
    const main = [...drafts].map(([path, text]) => planned(folder, path, { text, mode: OPEN_FILE_MODE }));
    // The main file last: without it nothing else is read.
    return { files: [...secrets, ...beside, ...main.reverse()].filter(isOther), changes: [] };
  }
  const network = networkOf(session) ?? NETWORKS.get(answers.network);
  if (network === undefined) throw new Error(`the network ${answers.network} was not looked up before`);
  const isTooSmall = (session.slotUsd ?? 0n) > present.configuration.policy.maxTradeUsd;
  const { unsaid } = session;
  const edited = editedFiles({
    folder,
    present,
    answers,
    unsaid,
    network,
    maxTrade: isTooSmall ? maxTrade : undefined,
  });
  const files = edited.map(({ path, after }) => planned(folder, path, { text: after, mode: OPEN_FILE_MODE }));
  const typed = secrets.filter(isOther).map(({ path, before }) => {
    return `${path}: what is typed ${before === undefined ? "is kept there" : "takes the place of what stands there"}`;
  });
  return {
    files: [...secrets, ...beside, ...files].filter(isOther),
    changes: [...typed, ...edited.flatMap(({ changes }) => changes)],
  };
}

function isOther({ text, before }: PlannedFile): boolean {
  return text !== before;
}

/** A file keeps the permissions that it has. */
function planned(folder: string, path: string, { text, mode }: { text: string; mode: number }): PlannedFile {
  const file = join(folder, path);
  if (!existsSync(file)) return { path, text, mode, before: undefined };
  return { path, text, mode: statSync(file).mode & 0o777, before: readFileSync(file, "utf8") };
}

/** What others may read by now is taken from them: what is written is a secret. */
function plannedSecret(folder: string, path: string, text: string): PlannedFile {
  const file = planned(folder, path, { text, mode: PRIVATE_FILE_MODE });
  return rightsOfOthers(join(folder, path)) === undefined ? file : { ...file, mode: PRIVATE_FILE_MODE };
}

/** Of what git ignores the lines that are missing are added; a schema is always this release's. */
function besides(folder: string, path: string, text: string): string {
  const file = join(folder, path);
  if (path !== IGNORE_FILE || !existsSync(file)) return text;
  const before = readFileSync(file, "utf8");
  const there = new Set(before.split(/\r?\n/));
  const missing = text.split("\n").filter((line) => line !== "" && !there.has(line));
  return missing.length === 0 ? before : `${before.replace(/\n?$/, "\n")}${missing.join("\n")}\n`;
}

function refuseExisting(folder: string, paths: readonly string[]): void {
  const existing = paths.filter((path) => existsSync(join(folder, path)));
  if (existing.length === 0) return;
  throw new CommandFailure(
    EXIT.no,
    `${existing.join(", ")} exist in ${folder} without a main file, and are left as they are; name another folder with --dir`,
  );
}

/** The largest single trade: what one slot sells with room, and never more than a day may. */
async function tradeCeiling(session: Session, answers: Answers): Promise<string | undefined> {
  const { slotUsd } = session;
  if (slotUsd === undefined) return undefined;
  return await withDraft(session, {}, async (loaded) => {
    const schedule = loaded.ok ? loaded.configuration.strategies[0]?.spec.schedule : undefined;
    if (schedule === undefined) return undefined;
    const { trade } = ceilingsFor(slotUsd, countSlots(schedule, systemClock.nowMs()));
    const [ours, days] = [trade, answers.maxPerDay].map((text) => parseUsd(text.replace(/\s*USD$/, "")));
    return ours !== undefined && days !== undefined && ours > days ? answers.maxPerDay : trade;
  });
}
