import type { Decided } from "../ports/changes.ts";
import type { LaneSigningRows, SigningTerms } from "../ports/lane-questions.ts";
import type { LaneDecided, LaneQuestion, LaneStore, LaneUnit, SigningRows } from "../ports/lane-unit-of-work.ts";
import type { Answered } from "../ports/questions.ts";
import { haltChange, notifyOfAlerts, refusalChange } from "./alerts.ts";
import { type DecidedStep, decideStep } from "./decide-step.ts";
import type { EngineContext } from "./engine-context.ts";
import { stepQuestion } from "./gather-evidence.ts";
import { runEventOf } from "./lane-events.ts";
import { maySignIntent, type SigningMarker } from "./modes.ts";
import type { ReportSteps, Step } from "./report-steps.ts";

/**
 * The daemon's rows as its lanes use them. What a lane reports of a swap's transaction steps the run in the same unit
 * of work, so that the attempt's row and the swap's row change together; people are notified after that.
 */
export function createLaneStore(context: EngineContext, reportSteps: ReportSteps): LaneStore {
  const { settings } = context;
  const { store, clock } = context.deps;
  return {
    open: (account) => store.read({ kind: "lane-open", ...account }),
    read: (question) => store.read({ kind: "lane", ...question }),
    readToSign: async (question) => {
      const rows = await store.read({ kind: "lane-signing", ...question, withDatabase: !settings.live });
      return signingRows(rows, signingMarker(context, question));
    },
    commit: async <T>(unit: LaneUnit<T>): Promise<T> => {
      const marker = signingMarker(context, unit.question);
      const asked = { ...unit.question, withDatabase: !settings.live, of: stepQuestion(context, clock.nowMs()) };
      const question = { kind: "lane-move", ...asked } as const;
      const decide = (rows: Answered<"lane-move">): Decided<Moved<T>> => move(context, rows, { unit, marker });
      const [written] = await store.commit([{ question, decide }]);
      if (written === undefined) throw new Error("a unit of a lane came to nothing");
      const { alerts, value: moved } = written;
      if (moved.step === undefined) notifyOfAlerts(context.deps, alerts);
      else reportSteps([{ value: moved.step, alerts }]);
      return moved.value;
    },
  };
}

/** What a lane decided, and the step that its run took by that. */
interface Moved<T> {
  readonly value: T;
  readonly step: Step | undefined;
}

/** What a lane decides on, of the daemon's rows. */
export function signingRows(rows: LaneSigningRows<SigningTerms>, marker: SigningMarker): SigningRows {
  return { ...rows.lane, maySign: maySignIntent(rows, marker) };
}

/**
 * What is outside of the rows. The marker is read only where no check of the chain has compared the database with it.
 */
export function signingMarker(
  { settings: { live }, deps: { marker, signers } }: Pick<EngineContext, "settings" | "deps">,
  { account }: LaneQuestion,
): SigningMarker {
  const hasKey = signers.get(account)?.isWatched !== true;
  return { live, hasKey, seen: live ? undefined : marker?.read(account)?.state };
}

function move<T>(
  context: EngineContext,
  rows: Answered<"lane-move">,
  { unit, marker }: { readonly unit: LaneUnit<T>; readonly marker: SigningMarker },
): Decided<Moved<T>> {
  const { deps } = context;
  const decided = unit.decide(signingRows(rows, marker));
  const { changes, atMs, value, refusal } = decided;
  const taken = stepBy(context, rows, decided);
  const halts = changes.flatMap((change) => (change.kind === "account-halted" ? [haltChange(deps, change.halt)] : []));
  const reported = refusal === undefined ? [] : [refusalChange(deps, refusal)];
  return {
    changes: [...changes, ...(taken?.changes ?? []), ...halts, ...reported],
    atMs,
    value: { value, step: taken?.step },
  };
}

/** The step of the run that the intent belongs to, by what the lane reports of it. */
function stepBy(
  context: EngineContext,
  { lane, owner }: Answered<"lane-move">,
  { event: reported, atMs }: Pick<LaneDecided<unknown>, "event" | "atMs">,
): { readonly step: Step; readonly changes: DecidedStep["changes"] } | undefined {
  if (owner === undefined || reported === undefined) return undefined;
  const { run, swapId, rows } = owner;
  const event = runEventOf(reported, { swapId, value: lane.intent?.value ?? 0n });
  if (event === undefined) return undefined;
  context.deps.crashPoint(`commit.${event.kind}.before`);
  const { result, changes } = decideStep(context, { run, event, rows, nowMs: atMs });
  return { step: { event, result, prices: rows.prices }, changes };
}
