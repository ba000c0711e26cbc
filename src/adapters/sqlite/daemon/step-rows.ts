import { createHash } from "node:crypto";
import type { Evidence } from "../../../domain/run/evidence.ts";
import type { StepInput } from "../../../domain/run/replay.ts";
import type { StrategySpec } from "../../../domain/strategy/spec.ts";
import { hasTable, type Statements } from "../statements.ts";
import { decodeJson, encodeJson } from "./codec.ts";
import { pack, unpack } from "./pack.ts";
import { readContracts, readEvent, storedContracts, storedEvent } from "./stored-contracts.ts";
import { readSpec } from "./stored-spec.ts";

/** Version of the stored form of a step. */
const STEP_VERSION = 1;

/** What is the same from step to step, and so is stored once for all of them. */
type Settings = Pick<Evidence, "spec" | "policy" | "ours" | "live" | "service" | "chain" | "pace">;

interface StoredStep {
  readonly version: number;
  readonly event: unknown;
  readonly evidence: Omit<Evidence, keyof Settings>;
}

/** Writes what a step was taken from. */
export function writeStep(sql: Statements, runId: string, { event, evidence }: StepInput): void {
  const { spec, policy, ours, live, service, chain, pace, ...gathered } = evidence;
  const step: StoredStep = { version: STEP_VERSION, event: storedEvent(event), evidence: gathered };
  const hash = writeSettings(sql, { spec, policy, ours, live, service, chain, pace });
  sql.run("INSERT INTO steps (run_id, settings, body) VALUES (?, ?, ?)", runId, hash, pack(encodeJson(step)));
}

/** Of the settings that a strategy's last step had: with hundreds of wallets writing them out takes longer than all else. */
const lastHashes = new WeakMap<StrategySpec, { readonly settings: Settings; readonly hash: string }>();

/** @returns the hash that they are found by */
function writeSettings(sql: Statements, settings: Settings): string {
  const last = lastHashes.get(settings.spec);
  const isSame = last !== undefined && isSameObjects(last.settings, settings);
  const text = (): string => encodeJson({ ...settings, service: storedContracts(settings.service) });
  const hash = isSame ? last.hash : createHash("sha256").update(text()).digest("hex");
  if (!isSame) lastHashes.set(settings.spec, { settings, hash });
  const isKnown = sql.get("SELECT 1 FROM step_settings WHERE hash = ?", hash) !== undefined;
  if (!isKnown) sql.run("INSERT INTO step_settings (hash, body) VALUES (?, ?)", hash, pack(text()));
  return hash;
}

function isSameObjects(one: Settings, other: Settings): boolean {
  return (Object.keys(one) as (keyof Settings)[]).every((key) => one[key] === other[key]);
}

/**
 * What the steps of a run were taken from, in their order; none where they were not kept yet.
 * @throws Error when one of them was written by a later version
 */
export function readSteps(sql: Statements, runId: string): readonly StepInput[] {
  if (!hasTable(sql, "steps")) return [];
  const rows = sql.all<{ body: Uint8Array; settings: Uint8Array }>(
    `SELECT steps.body, step_settings.body AS settings FROM steps JOIN step_settings ON hash = steps.settings
     WHERE run_id = ? ORDER BY id`,
    runId,
  );
  return rows.map((row) => {
    const { version, event, evidence } = decodeJson(unpack(row.body)) as StoredStep;
    if (version !== STEP_VERSION)
      throw new Error(`run ${runId} has a step of version ${version}; this program knows ${STEP_VERSION}`);
    const settings = decodeJson(unpack(row.settings)) as Settings;
    const service = readContracts<Evidence["service"]>(settings.service);
    const spec = readSpec(settings.spec);
    return { event: readEvent(event), evidence: { ...evidence, ...settings, service, spec } };
  });
}
