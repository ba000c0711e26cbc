import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { createReconciler } from "../../../src/engine/reconcile/reconciler.ts";
import type { IdentityMarker } from "../../../src/ports/identity-marker.ts";
import {
  accept,
  acceptAlone,
  acceptInTime,
  begin,
  copyTo,
  fill,
  fills,
  handOver,
  LIFETIME_SECONDS,
  live,
  markerOf,
  nameAfterItsFile,
  open,
} from "../../support/databases-in-turn.ts";
import { ACCOUNT, type Outside, openLife, turn, turnUntil } from "../../support/engine-life.ts";

const CHAIN_ID = 31_337;

const another = (outside: Outside): Outside => ({ ...outside, file: join(dirname(outside.file), "another.db") });

const behind = ({ reported }: Outside): number => reported.filter(({ code }) => code === "DATABASE_BEHIND").length;

test("a database that was accepted as lost, and put back and used since, is reported when it is lost once more", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  const emptied = another(outside);
  await fill(outside, 1, marker);
  for (const place of [emptied, outside]) {
    const life = await live(place, marker);
    expect(open(life)).toContain("lost");
    await acceptInTime(place, life);
    await life.engine.stop();
  }
  await handOver(outside, marker);
  expect(open(await live(emptied, marker))).toEqual(["lost"]);
});

test("a request on a database that was lost is no word on what the same one signed since", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  const emptied = another(outside);
  await fill(outside, 1, marker);
  const halted = await live(emptied, marker);
  await turn(emptied, halted, LIFETIME_SECONDS + 5);
  expect(open(halted)).toEqual(["lost", "fill"]);
  const id = halted.store.addRequest({
    command: "accept",
    arguments: {},
    madeBy: "ops",
    madeAtMs: outside.clock.nowMs(),
  });
  await halted.engine.stop();
  await handOver(outside, marker);
  const life = await live(emptied, marker);
  await turn(emptied, life, 5);
  expect(life.store.answerOf(id)).toContain("refused");
  expect(await accept(life)).toContain("refused: what another database signed may be filled until its deadline");
});

test("the newer database is reported as well when it comes back after its copy was accepted and signed", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  await fill(outside, 3, marker);
  const life = await live(restored, marker);
  expect(open(life)).toContain("older");
  await acceptInTime(restored, life);
  await life.engine.stop();
  await handOver(restored, marker);
  expect(open(await live(outside, marker))).toEqual(["older"]);
});

test("it is reported too where a third database stood in between, which the copy accepted as lost", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  const emptied = another(outside);
  await fill(outside, 1, marker);
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  await fill(outside, 3, marker);
  for (const place of [emptied, restored]) {
    const life = await live(place, marker);
    expect(open(life)).toContain("lost");
    await acceptInTime(place, life);
    await life.engine.stop();
  }
  await handOver(restored, marker);
  expect(open(await live(outside, marker))).toEqual(["older"]);
});

test("it is reported too where it was about to sign more than its marker knows when it ended", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  await fill(outside, 3, marker);
  const newer = openLife(outside, { marker });
  newer.db.exec("UPDATE identity SET signatures = signatures + 50");
  newer.db.close();
  const life = await live(restored, marker);
  await acceptInTime(restored, life);
  await life.engine.stop();
  await handOver(restored, marker);
  expect(open(await live(outside, marker))).toEqual(["older"]);
});

test("an older copy that is accepted while no daemon runs trades on with the next start, and is reported no more", async () => {
  const outside = begin("never", "none");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  await fill(outside, 3, marker);
  const first = await live(restored, marker);
  expect(open(first)).toContain("older");
  await turn(restored, first, LIFETIME_SECONDS + 5);
  await first.engine.stop();
  expect(await acceptAlone(first)).toContain("accepted");
  const reported = behind(outside);
  for (const _start of [1, 2]) {
    const before = fills(outside);
    const life = await live(restored, marker);
    expect(open(life).filter((kind) => kind !== "unchecked")).toEqual([]);
    await turn(restored, life, 180);
    expect(fills(outside)).toBeGreaterThan(before);
    await life.engine.stop();
    expect(life.errors).toEqual([]);
  }
  expect(behind(outside)).toBe(reported);
});

test("transactions of another database that a person accepted halt the account for nobody", async () => {
  const outside = begin("never", "none");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  await fill(outside, 3, marker);
  const life = await live(restored, marker);
  expect(open(life)).toContain("nonce");
  await acceptInTime(restored, life);
  await turn(restored, life, 240);
  expect(life.lanes.halt(ACCOUNT, CHAIN_ID)).toBeUndefined();
  expect([fills(outside) > 3, life.errors]).toEqual([true, []]);
});

test("a check that began before a person accepted is not the one that comes after it", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  await fill(outside, 2, marker);
  const life = openLife(restored, { marker });
  const reconciler = createReconciler(life.context);
  await reconciler.begin();
  await reconciler.scan();
  expect(open(life)).toEqual(["older", "fill"]);
  await outside.clock.advance(3_600_000);
  outside.chain.mine();
  const logs = outside.chain.logs.bind(outside.chain);
  let asked = 0;
  let letGo = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  outside.chain.logs = async (query) => {
    asked += 1;
    const answer = await logs(query);
    await gate;
    return answer;
  };
  const slow = reconciler.scan();
  await expect.poll(() => asked).toBeGreaterThan(0);
  expect(await acceptAlone(life)).toContain("accepted 2");
  letGo();
  await slow;
  expect(open(life)).toEqual(["unchecked"]);
  asked = 0;
  await outside.clock.advance(1_000);
  outside.chain.mine();
  await reconciler.scan();
  expect([open(life), asked > 0]).toEqual([[], true]);
});

test("what a marker of another installation reported is over once the right one is there again", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const state = { id: "other", signatures: 3, signings: 0 };
  const foreign: IdentityMarker = {
    read: () => ({ state, baseline: { block: 1, transactionCount: 0 } }),
    write: () => undefined,
  };
  for (const [place, expected] of [
    [foreign, ["lost"]],
    [marker, []],
    [foreign, ["lost"]],
    [marker, []],
  ] as const) {
    const life = await live(outside, place);
    await turn(outside, life, 5);
    expect(open(life)).toEqual(expected);
    await life.engine.stop();
  }
  const life = await live(outside, marker);
  await turn(outside, life, 120);
  expect([fills(outside) > 1, life.errors]).toEqual([true, []]);
});

test("a finding of a clock that ran ahead while nobody looked is waited for from now on", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  const emptied = another(outside);
  await fill(outside, 1, marker);
  const halted = await live(emptied, marker);
  await halted.engine.stop();
  halted.db.exec("UPDATE differences SET found_at_ms = found_at_ms + 86400000");
  outside.clock.reboot();
  // A life that begins after the rows were changed: this one remembers them as they were.
  const later = openLife(emptied, { marker });
  expect(await acceptAlone(later)).toContain("refused: what another database signed may be filled until its deadline");
  await outside.clock.advance(LIFETIME_SECONDS * 1_000);
  expect(await acceptAlone(later)).toContain("accepted 2");
});

test("a finding of a clock that stood behind, and was set while nothing ran, is waited for all the same", async () => {
  const outside = begin("only", "none");
  const marker = markerOf(outside);
  const emptied = another(outside);
  await fill(outside, 1, marker);
  outside.clock.jumpTo(outside.clock.nowMs() - 86_400_000);
  const halted = await live(emptied, marker);
  await halted.engine.stop();
  outside.clock.jumpTo(outside.clock.nowMs() + 86_400_000);
  expect(await acceptAlone(halted)).toContain("refused: what another database signed may be filled until its deadline");
  await outside.clock.advance(LIFETIME_SECONDS * 1_000);
  expect(await acceptAlone(halted)).toContain("accepted 2");
});

test("an older copy put back between two hourly checks is seen by a wallet that signed nothing, too", async () => {
  const outside = begin("only");
  const marker = markerOf(outside);
  const other = toAddress(`0x${"77".repeat(20)}`);
  expect(await checkWith([ACCOUNT, other], outside, marker)).toEqual([]);
  const copy = copyTo(outside, "copy.db");
  await fill(outside, 2, marker);
  const found = await checkWith([ACCOUNT, other], { ...outside, file: copy }, marker);
  expect(found).toContain(`older ${ACCOUNT}`);
  expect(found).toContain(`older ${other}`);
});

/** A start that checks these wallets once. @returns what is open afterwards, by kind and wallet */
async function checkWith(wallets: readonly Address[], of: Outside, marker: IdentityMarker): Promise<readonly string[]> {
  const life = openLife(of, { marker });
  // A copy keeps the name that the file it was made of has.
  if (life.store.identity() === undefined) nameAfterItsFile(life, of);
  const signer = life.context.deps.signers.get(ACCOUNT);
  if (signer === undefined) throw new Error("the life has no signer");
  const signers = new Map(wallets.map((wallet) => [wallet, signer]));
  const reconciler = createReconciler({ ...life.context, deps: { ...life.context.deps, signers } });
  await reconciler.begin();
  await reconciler.scan();
  const found = life.store.openDifferences().map(({ kind, wallet }) => `${kind} ${wallet}`);
  life.db.close();
  return found;
}

test.each([
  ["only", "lost"],
  ["never", "lost"],
  ["only", "older"],
  ["never", "older"],
] as const)(
  "a daemon signs nothing more once its marker is that of another one that took the wallet over (gasless: %s, %s)",
  async (gasless, kind) => {
    const outside = begin(gasless, "none");
    const marker = markerOf(outside);
    const life = await live(outside, marker);
    expect(await turnUntil(outside, life, { maxSeconds: 150, isDone: () => fills(outside) === 1 })).toBe(true);
    const { state, baseline } = marker.read(ACCOUNT) ?? {};
    if (state === undefined || baseline === undefined) throw new Error("it has no marker");
    const id = kind === "lost" ? "another.db" : state.id;
    marker.write(ACCOUNT, { state: { id, signatures: state.signatures + 5, signings: state.signings + 5 }, baseline });
    const before = outside.signed.length;
    await turn(outside, life, 150);
    expect([fills(outside), outside.signed.length - before, open(life), life.errors]).toEqual([1, 0, [kind], []]);
    expect(behind(outside)).toBe(1);
    expect(marker.read(ACCOUNT)?.state?.id).toBe(id);
  },
);
