import { SUBJECT } from "../domain/run/alert.ts";
import {
  GLOBAL_SCOPE,
  type ModeRow,
  OPERATING_MODES,
  type OperatingMode,
  signedAgain,
  stricterBesides,
  stricterMode,
} from "../domain/run/operating-mode.ts";
import type { Change } from "../ports/changes.ts";
import type { OperatorRequest } from "../ports/daemon-rows.ts";
import type { LaneHalt } from "../ports/lane-store.ts";
import type { Answered } from "../ports/questions.ts";
import { raiseChange } from "./alerts.ts";
import { type EngineContext, strategyOf } from "./engine-context.ts";
import type { Outcome } from "./operator-transactions.ts";

/** Where it was renamed, the one that trades is another. */
const WITHOUT_FILE = "no file of that name is in force, so it starts no runs: see `swapd status` for those that do";

/** Begins the name of who asked by chat. */
export const BY_CHAT = "chat:";

/** What comes of a person's word on the mode of everything, or of a strategy. */
export function decideMode(
  context: EngineContext,
  rows: Answered<"scope">,
  { request, scope }: { readonly request: OperatorRequest; readonly scope: string },
): Outcome {
  const { mode, reason = "no reason given" } = request.arguments;
  if (!isMode(mode)) return refused(`no mode ${JSON.stringify(mode)}; known are ${OPERATING_MODES.join(", ")}`);
  // One whose file is gone may still have an open run, and must be stoppable.
  const hasFile = scope === GLOBAL_SCOPE || strategyOf(context, scope) !== undefined;
  if (!hasFile && !rows.isKnown) return refused(`no strategy "${scope}"`);
  const row = { scope, mode, setBy: request.madeBy, reason, atMs: request.madeAtMs };
  const held = stricterHeld(row, rows.mode);
  if (held !== undefined) return refused(held);
  const released = scope === GLOBAL_SCOPE && mode === "active" ? releaseAccounts(context, rows.halts, row) : [];
  const besides = signedAgain(row, rows) ?? stricterBesides(row, rows.modes);
  const words = [
    `${scope} is ${mode}`,
    ...(hasFile ? [] : [WITHOUT_FILE]),
    ...leftWithOwners(context, row),
    ...released.map(({ text }) => text),
    ...(besides === undefined ? [] : [besides]),
  ];
  return {
    answer: words.join("; "),
    changes: [...modeChanges(context, row, rows), ...released.flatMap(({ changes }) => changes)],
  };
}

/** What lets trade needs a code by chat. A stop has none, and in place of a stricter one would let open runs be signed. */
function stricterHeld({ scope, mode, setBy }: ModeRow, before: ModeRow | undefined): string | undefined {
  if (!setBy.startsWith(BY_CHAT) || before === undefined || mode === "active") return undefined;
  if (stricterMode(mode, before.mode) === mode) return undefined;
  return `${scope} is ${before.mode}, which is stricter than ${mode}, so it stays; use swapd on the machine`;
}

/** A halt takes nothing back: what people have before them is theirs to execute. */
function leftWithOwners(context: EngineContext, { scope, mode }: ModeRow): readonly string[] {
  const { safes, strategies } = context.settings;
  const halted = strategies.filter(({ spec }) => scope === GLOBAL_SCOPE || spec.id === scope);
  const hasSafe = halted.some(({ spec }) => safes?.has(spec.wallet.address) === true);
  if (mode !== "halted" || !hasSafe) return [];
  return ["what the owners of a Safe have been asked for they can execute until its deadline"];
}

function refused(why: string): Outcome {
  return { answer: `refused: ${why}`, changes: [] };
}

function modeChanges(context: EngineContext, row: ModeRow, rows: Answered<"scope">): readonly Change[] {
  const { scope, mode } = row;
  // Setting active what is active changes nothing: the row says since when runs may start.
  const isActive = mode === "active" && (rows.mode?.mode ?? "active") === "active";
  const changes: readonly Change[] = isActive ? [] : [{ kind: "mode", row }];
  if (mode === "active") return [...changes, { kind: "alerts-of-fills-over", strategyId: scope }];
  if (mode !== "halted") return changes;
  const text = `${scope} is halted by ${row.setBy}: ${row.reason}; ${["nothing new is signed", ...leftWithOwners(context, row)].join("; ")}`;
  const alert = { severity: "info", code: "HALTED_BY_OPERATOR", subject: SUBJECT.mode(scope), text } as const;
  return [...changes, raiseChange(context.deps, alert)];
}

/**
 * With going back to active for everything a person also lets halted accounts go on, and those whose wallet was taken out
 * of the configuration: what is said of them would else be true for ever.
 */
function releaseAccounts(
  { settings }: EngineContext,
  halts: readonly LaneHalt[],
  { setBy: by }: ModeRow,
): readonly { readonly text: string; readonly changes: readonly Change[] }[] {
  const ours = halts.filter(({ chainId }) => chainId === settings.chainId);
  return ours.map(({ account, chainId, reason }) => ({
    text: `released ${account}, which was halted because ${reason}`,
    changes: [
      { kind: "halt-released", account, chainId, by },
      { kind: "alerts-over", subject: SUBJECT.account(account) },
    ],
  }));
}

function isMode(text: string | undefined): text is OperatingMode {
  return OPERATING_MODES.some((mode) => mode === text);
}
