import { basename, dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { createMarkerFiles } from "../../src/adapters/identity/marker-files.ts";
import type { Address } from "../../src/domain/money/address.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { writeAndNotify } from "../../src/engine/alerts.ts";
import type { EngineContext } from "../../src/engine/engine-context.ts";
import { decideAcceptance } from "../../src/engine/reconcile/accept.ts";
import { uncheckedChange } from "../../src/engine/reconcile/findings.ts";
import type { IdentityMarker } from "../../src/ports/identity-marker.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { HUNDRED_USDC, SLOT_MS } from "./builders.ts";
import { createOutside, type Life, type Outside, openLife, turn, turnUntil } from "./engine-life.ts";
import { SETTLEMENT } from "./fake-ledger.ts";

// Several databases that trade for one wallet in turn: copies, empty ones, and the right one put back.

const SWAPPED = SETTLEMENT.getEvent("Swapped")?.topicHash;
export const BUDGET = 4;
/** Longer than anything that these engines sign may live. */
export const LIFETIME_SECONDS = 305;

type Gasless = "only" | "never";

/** @param budget in swaps */
export function begin(gasless: Gasless, budget: number | "none" = BUDGET): Outside {
  const total = budget === "none" ? {} : { budget: { total: BigInt(budget) * HUNDRED_USDC } };
  return createOutside(SLOT_MS - 1_500, { gasless, ...total } as Partial<StrategySpec>);
}

export function fills({ chain }: Outside): number {
  return chain
    .receipts()
    .flatMap(({ logs }) => logs)
    .filter(({ topics }) => topics[0] === SWAPPED).length;
}

export function markerOf(outside: Outside): IdentityMarker {
  return createMarkerFiles(join(dirname(outside.file), "identity"), 31_337);
}

export async function live(outside: Outside, marker?: IdentityMarker): Promise<Life> {
  const life = openLife(outside, { marker });
  onTestFinished(() => life.engine.stop());
  nameAfterItsFile(life, outside);
  await life.engine.start();
  return life;
}

/** Ids of these tests count the rows, so that two empty databases would have the same. */
export function nameAfterItsFile({ store }: Life, { file }: Outside): void {
  store.saveIdentity({ network: "sandbox", chainId: 31_337, atMs: 0 });
  store.nameDatabase(basename(file));
}

/** Lives until so many fills are on the chain and known, and stops. */
export async function fill(outside: Outside, count: number, marker?: IdentityMarker): Promise<void> {
  const life = openLife(outside, { marker });
  nameAfterItsFile(life, outside);
  await life.engine.start();
  const isDone = (): boolean => fills(outside) >= count && life.store.unsettledSwaps().length === 0;
  expect(await turnUntil(outside, life, { maxSeconds: 60 * (count + 2), isDone })).toBe(true);
  await life.engine.stop();
  expect(life.errors).toEqual([]);
  life.db.close();
}

/** Hands one order over, which the relayer keeps for now, and dies. */
export async function handOver(outside: Outside, marker: IdentityMarker): Promise<void> {
  outside.chain.holdsRelayed = true;
  const already = outside.service.submissions.length;
  const life = openLife(outside, { marker });
  await life.engine.start();
  const isOut = (): boolean => outside.service.submissions.length > already;
  expect(await turnUntil(outside, life, { maxSeconds: 90, isDone: isOut })).toBe(true);
  life.kill();
  life.db.close();
}

export function copyTo(outside: Outside, name: string): string {
  const copy = join(dirname(outside.file), name);
  const db = openDatabase({ file: outside.file, readonly: true });
  db.prepare("VACUUM INTO ?").run(copy);
  db.close();
  return copy;
}

export const open = (life: Life): readonly string[] => life.store.openDifferences().map(({ kind }) => kind);

export async function accept(life: Life): Promise<string> {
  const madeAtMs = life.context.deps.clock.nowMs();
  const id = life.store.addRequest({ command: "accept", arguments: {}, madeBy: "ops", madeAtMs });
  await life.engine.tick();
  return life.store.answerOf(id) ?? "no answer";
}

/** Waits until no order of another database can be filled any more, and accepts. */
export async function acceptInTime(outside: Outside, life: Life): Promise<void> {
  await turn(outside, life, LIFETIME_SECONDS + 5);
  expect(await accept(life)).toContain("accepted");
  await turn(outside, life, 5);
  expect(open(life)).toEqual([]);
}

/** Notes that a wallet is unchecked, as a start and an accepted difference do. */
export async function addUnchecked({ deps }: Pick<EngineContext, "deps">, wallet: Address): Promise<void> {
  await writeAndNotify(deps, [uncheckedChange(deps.clock, wallet)]);
}

/** Accepts as `swapd db accept` does where no daemon runs. */
export async function acceptAlone({ store, context }: Life, by = "ops"): Promise<string> {
  const question = { kind: "acceptance" } as const;
  const [written] = await store.commit([{ question, decide: (rows) => decideAcceptance(context, rows, by) }]);
  return written?.value ?? "nothing was written";
}
