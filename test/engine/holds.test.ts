import { expect, test } from "vitest";
import { createAlertOutbox, setAlertChannels } from "../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { createListing } from "../../src/adapters/sqlite/daemon/listing.ts";
import { createProgressReader } from "../../src/adapters/sqlite/daemon/progress-rows.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { writeAndNotify } from "../../src/engine/alerts.ts";
import { decideHoldAnswer } from "../../src/engine/operator-answers.ts";
import { runsOf } from "../support/budget-life.ts";
import { dcaSpec, SLOT_MS, USDC, usd, WBTC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { replayAll } from "../support/replays.ts";

const HOURLY = {
  schedule: { kind: "every" as const, seconds: 3_600, anchorSeconds: SLOT_MS / 1_000 },
  retryForSeconds: 20,
};
/** The slot sells a hundred dollars. */
const APPROVED = { ...HOURLY, approveAboveUsd: usd("99.99"), approveWithinSeconds: 120 };
const ANNOUNCED = { ...HOURLY, announceSeconds: 90 };

async function begin(change: Partial<StrategySpec>): Promise<{ outside: Outside; life: Life }> {
  const outside = createOutside(SLOT_MS - 1_500, change);
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 15);
  return { outside, life };
}

async function ask(outside: Outside, life: Life, command: string, args: Record<string, string>) {
  const id = life.store.addRequest({ command, arguments: args, madeBy: "ada", madeAtMs: outside.clock.nowMs() });
  await turn(outside, life, 3);
  return life.store.answerOf(id);
}

const heldRun = (life: Life): string => runsOf(life)[0]?.id ?? "none";

const alertsOf = ({ db }: Life): unknown[] =>
  db
    .prepare("SELECT code, over_at_ms IS NOT NULL AS isOver FROM alerts WHERE subject LIKE 'wait of %' ORDER BY number")
    .all();

const textOf = ({ db }: Life): unknown =>
  db.prepare("SELECT text FROM alerts WHERE subject LIKE 'wait of %'").pluck().get();

async function isFilled(outside: Outside, life: Life, maxSeconds = 60): Promise<boolean> {
  return await turnUntil(outside, life, { maxSeconds, isDone: () => runsOf(life)[0]?.state === "filled" });
}

/** What came of the slot, and that nothing of it can happen any more. */
function expectUnsigned(outside: Outside, life: Life, reason: string): void {
  expect(runsOf(life)[0]).toMatchObject({ state: "skipped", reason });
  expect(outside.signed).toEqual([]);
  expect(life.db.prepare("SELECT state FROM ledger").pluck().all()).toEqual(["released"]);
  expect(life.db.prepare("SELECT count(*) FROM effects").pluck().get()).toBe(0);
  expect(alertsOf(life)).toMatchObject([{ isOver: 1 }]);
  expect(life.errors).toEqual([]);
  expect(replayAll(life.file)).toEqual({ problems: [], runs: 1 });
}

test("a run that was let go and waits once more can be answered once more", async () => {
  const { outside, life } = await begin(APPROVED);
  const rows = await life.store.read({ kind: "hold", runId: heldRun(life) });
  const [hold] = rows.holds;
  if (hold === undefined) throw new Error("nothing waits");
  const answer = { decision: "approved", by: "ada", atMs: outside.clock.nowMs() } as const;
  const holds = [hold, { ...hold, kind: "announcement", answer } as const];
  const outcome = decideHoldAnswer({ ...rows, holds }, { runId: heldRun(life), answer });
  expect(outcome.changes).toContainEqual({ kind: "hold-answered", runId: heldRun(life), answer });
  const answered = holds.map((one) => ({ ...one, answer }));
  const again = decideHoldAnswer({ ...rows, holds: answered }, { runId: heldRun(life), answer });
  expect(again).toEqual({ answer: expect.stringMatching(/^refused: ada has approved /), changes: [] });
});

test("who approves what is halted is not told that it trades", async () => {
  const { outside, life } = await begin(APPROVED);
  await ask(outside, life, "mode", { mode: "halted" });
  const answer = await ask(outside, life, "approve", { run: heldRun(life) });
  expect(answer).toMatch(/^approved .*: it signs nothing while it is halted/);
  expect(await isFilled(outside, life, 10)).toBe(false);
  expect(outside.signed).toEqual([]);
});

test("ALL-12 a swap above its bound waits until it is approved, and is quoted and checked anew then", async () => {
  const { outside, life } = await begin(APPROVED);
  expect([runsOf(life)[0]?.state, outside.signed]).toEqual(["executing", []]);
  expect(alertsOf(life)).toEqual([{ code: "APPROVAL_NEEDED", isOver: 0 }]);
  const { waitingForApproval } = createProgressReader(life.db);
  expect(waitingForApproval()).toBe(1);
  expect(textOf(life)).toContain("weekly wants to sell 100 USDC (100.00 USD) for about 0.1 WETH: within 2m approve it");
  expect(textOf(life)).toContain(`swapd approve ${heldRun(life)}; or refuse it with: swapd skip ${heldRun(life)}`);
  const quotes = outside.service.requests.length;
  const answer = await ask(outside, life, "approve", { run: heldRun(life) });
  expect(answer).toBe(`approved ${heldRun(life)} of weekly: it is quoted and checked again, and trades`);
  expect(waitingForApproval()).toBe(0);
  expect(alertsOf(life)).toEqual([{ code: "APPROVAL_NEEDED", isOver: 1 }]);
  expect(await isFilled(outside, life)).toBe(true);
  const cleared = life.db.prepare("SELECT detail FROM transitions WHERE subject = 'swap' AND to_state = 'cleared'");
  expect(new Set(cleared.pluck().all())).toEqual(new Set(["approved by ada"]));
  expect(outside.service.requests.length).toBeGreaterThan(quotes);
  const late = await ask(outside, life, "skip", { strategy: heldRun(life) });
  expect(late).toMatch(/^refused: .* has ended: filled/);
  expect([life.errors, replayAll(life.file)]).toEqual([[], { problems: [], runs: 1 }]);
});

test("ALL-12 what nobody approves in time ends unsigned, and its money is free", async () => {
  const { outside, life } = await begin(APPROVED);
  await turn(outside, life, 130);
  expectUnsigned(outside, life, "not_approved");
  expect(createProgressReader(life.db).waitingForApproval()).toBe(0);
});

test("what is refused ends unsigned, and a second word comes too late", async () => {
  const { outside, life } = await begin(APPROVED);
  expect(await ask(outside, life, "skip", { strategy: heldRun(life) })).toMatch(/^refused run_\d+ of weekly: nothing/);
  await turn(outside, life, 5);
  expectUnsigned(outside, life, "refused_by_operator");
  expect(await ask(outside, life, "approve", { run: heldRun(life) })).toMatch(/^refused: .* has ended: skipped/);
});

test.each([
  ["approve", "run"],
  ["skip", "strategy"],
])(
  "whose wallet was taken away meanwhile keeps no daemon from its start, and signs nothing: %s",
  async (command, key) => {
    const { outside, life } = await begin(APPROVED);
    life.kill();
    life.db.close();
    const next = openLife(outside);
    if (next.context.deps.signers instanceof Map) next.context.deps.signers.clear();
    await expect(next.engine.start(), "its key may be gone for good").resolves.toBeUndefined();
    await turn(outside, next, 3);
    expect(await ask(outside, next, command, { [key]: heldRun(next) })).toMatch(/^(?:approved|refused) run_/);
    await turn(outside, next, 10);
    expectUnsigned(outside, next, "signing_barred");
  },
);

test("who approves a run that was barred by accepting what another database did hears that it ends unsigned", async () => {
  const { outside, life } = await begin(APPROVED);
  await writeAndNotify(life.context.deps, [{ kind: "open-runs-barred" }]);
  const answer = await ask(outside, life, "approve", { run: heldRun(life) });
  expect(answer).toMatch(/: it ends unsigned all the same: another database, whose acts were accepted/);
  await turn(outside, life, 10);
  expectUnsigned(outside, life, "signing_barred");
});

test("who approves a run that a halted account or an unaccepted difference keeps from signing hears of it", async () => {
  const { life } = await begin(APPROVED);
  const rows = await life.store.read({ kind: "hold", runId: heldRun(life) });
  const said = (change: Partial<typeof rows>): string =>
    decideHoldAnswer(
      { ...rows, ...change },
      { runId: heldRun(life), answer: { decision: "approved", by: "ada", atMs: 0 } },
    ).answer;
  const halt = { account: ACCOUNT, chainId: 31_337, reason: "a foreign nonce", transactionCount: 1, atMs: 0 };
  expect(said({ halts: [halt] })).toContain(`signs nothing while the account ${ACCOUNT} is halted`);
  const found = { wallet: ACCOUNT, token: undefined, kind: "fill", scope: "wallet", text: "sold", facts: {} } as const;
  life.store.addDifference({ ...found, key: "fill" }, { ms: 1, sinceBoot: { id: "boot", ms: 1 } });
  const differences = life.store.openDifferences();
  expect(said({ differences })).toMatch(/signs nothing while it is halted, .*: swapd db check$/);
});

test("an approval that comes after its time is refused", async () => {
  const { outside, life } = await begin(APPROVED);
  const rows = await life.store.read({ kind: "hold", runId: heldRun(life) });
  const answerAt = (atMs: number) =>
    decideHoldAnswer(rows, { runId: heldRun(life), answer: { decision: "approved", by: "ada", atMs } });
  const untilMs = rows.holds[0]?.untilMs ?? 0;
  expect(answerAt(untilMs - 1).changes).toHaveLength(2);
  expect(answerAt(untilMs)).toEqual({ answer: expect.stringMatching(/^refused: .* waits for nobody/), changes: [] });
  expect(outside.signed).toEqual([]);
});

test("a swap at its bound waits for nobody", async () => {
  const { outside, life } = await begin({ ...APPROVED, approveAboveUsd: usd("100") });
  expect(await isFilled(outside, life)).toBe(true);
  expect(alertsOf(life)).toEqual([]);
  expect(await ask(outside, life, "approve", { run: "run_unknown" })).toMatch(/^refused: no run "run_unknown"/);
});

test("ALL-13 an announced swap goes on when its time is over", async () => {
  const { outside, life } = await begin(ANNOUNCED);
  expect(alertsOf(life)).toEqual([{ code: "SWAP_ANNOUNCED", isOver: 0 }]);
  expect(textOf(life)).toMatch(
    /^weekly will sell 100 USDC \(100\.00 USD\) for about 0\.1 WETH in 1m30s; stop it with: /,
  );
  await turn(outside, life, 60);
  expect(outside.signed).toEqual([]);
  expect(await isFilled(outside, life)).toBe(true);
  expect(alertsOf(life)).toEqual([{ code: "SWAP_ANNOUNCED", isOver: 1 }]);
  expect(replayAll(life.file)).toEqual({ problems: [], runs: 1 });
});

test("ALL-13 an announced swap can be stopped, or told to go on at once", async () => {
  const stopped = await begin(ANNOUNCED);
  await ask(stopped.outside, stopped.life, "skip", { strategy: heldRun(stopped.life) });
  await turn(stopped.outside, stopped.life, 5);
  expectUnsigned(stopped.outside, stopped.life, "refused_by_operator");
  const { outside, life } = await begin(ANNOUNCED);
  await ask(outside, life, "approve", { run: heldRun(life) });
  expect(await isFilled(outside, life, 20)).toBe(true);
});

test("who stops an announced swap whose time passed while nothing ran ends it before anything is sold", async () => {
  const { outside, life } = await begin({ ...ANNOUNCED, retryForSeconds: 600 });
  life.kill();
  life.db.close();
  await outside.clock.advance(100_000);
  outside.chain.mine();
  const next = openLife(outside);
  const runId = heldRun(next);
  next.store.addRequest({
    ...{ command: "skip", arguments: { strategy: runId }, madeBy: "ada", madeAtMs: outside.clock.nowMs() },
  });
  await next.engine.start();
  await turn(outside, next, 30);
  expect(runsOf(next)[0]).toMatchObject({ state: "skipped", reason: "refused_by_operator" });
  expect([alertsOf(next), next.errors]).toEqual([[{ code: "SWAP_ANNOUNCED", isOver: 1 }], []]);
});

test("a no that comes after a part of its run was signed says that nothing more is, and one after all of it that it is late", async () => {
  const { life } = await begin(ANNOUNCED);
  const rows = await life.store.read({ kind: "hold", runId: heldRun(life) });
  const { run } = rows;
  const [swap] = run?.swaps ?? [];
  if (run === undefined || swap === undefined) throw new Error("nothing waits");
  const answer = { decision: "refused", by: "ada", atMs: rows.holds[0]?.untilMs ?? 0 } as const;
  const said = (...swaps: readonly (typeof swap)[]) =>
    decideHoldAnswer({ ...rows, run: { ...run, swaps } }, { runId: run.id, answer });
  const sold = { ...swap, state: "confirmed" } as const;
  expect(said(swap).answer).toMatch(/: nothing of it is signed$/);
  expect(said({ ...swap, state: "approving", approvals: 1 }).answer).toMatch(/: nothing more of it is signed$/);
  expect(said(sold, { ...swap, state: "planned" }).answer).toMatch(/: nothing more of it is signed$/);
  expect(said(sold)).toEqual({ answer: expect.stringMatching(/waits for nobody; see: swapd show run_/), changes: [] });
});

test("a no to what is being signed, or is signed, says so, and what stops it still", async () => {
  const { life } = await begin(ANNOUNCED);
  const rows = await life.store.read({ kind: "hold", runId: heldRun(life) });
  const { run, holds } = rows;
  const [swap] = run?.swaps ?? [];
  if (run === undefined || swap === undefined) throw new Error("nothing waits");
  const atMs = rows.holds[0]?.untilMs ?? 0;
  const said = (
    change: Partial<typeof swap>,
    by: Partial<typeof rows> = {},
    decision: "approved" | "refused" = "refused",
  ) =>
    decideHoldAnswer(
      { ...rows, run: { ...run, swaps: [{ ...swap, ...change }] }, ...by },
      { runId: run.id, answer: { decision, by: "ada", atMs } },
    );
  const own = { mode: "self-executed", intentId: `${swap.id}.swap` } as const;
  const cancel = `swapd tx cancel ${swap.id}.swap`;
  const late = (text: string) => ({
    answer: `refused: ${run.id} waits for nobody any more: ${swap.id} ${text}`,
    changes: [],
  });
  const beingSigned = `passed its checks and is being signed; stop it with: ${cancel}; or, where no daemon runs, keep unsigned what is not signed yet with: swapd halt weekly`;
  expect(said({ ...own, state: "cleared" })).toEqual(late(beingSigned));
  const approved = {
    holds: holds.map((hold) => ({ ...hold, answer: { decision: "approved", by: "bob", atMs } as const })),
  };
  expect(said({ ...own, state: "cleared" }, approved), "a yes of before keeps nobody from stopping it").toEqual(
    late(beingSigned),
  );
  expect(said({ ...own, state: "submitted" })).toEqual(late(`is signed already; stop it with: ${cancel}`));
  expect(said({ mode: "gasless", state: "cleared" })).toEqual(
    late("passed its checks and is being signed; keep unsigned what is not signed yet with: swapd halt weekly"),
  );
  expect(said({ mode: "gasless", state: "signed" })).toEqual(
    late(`is signed already; the chain decides what becomes of it: swapd show ${run.id}`),
  );
  expect(said({ ...own, state: "cleared" }, {}, "approved").answer).toMatch(/waits for nobody; see: swapd show/);
  const refusedBefore = {
    holds: holds.map((hold) => ({ ...hold, answer: { decision: "refused", by: "bob", atMs } as const })),
  };
  expect(said({ ...own, state: "cleared" }, refusedBefore).answer).toMatch(/^refused: bob has refused /);
});

test("a run that waits is still told of when its strategy's file is taken away: it goes on, and can be stopped", async () => {
  const { outside, life } = await begin(ANNOUNCED);
  await life.engine.adopt([]);
  await turn(outside, life, 3);
  expect(alertsOf(life)).toEqual([{ code: "SWAP_ANNOUNCED", isOver: 0 }]);
  expect(await isFilled(outside, life, 120)).toBe(true);
  expect(alertsOf(life)).toEqual([{ code: "SWAP_ANNOUNCED", isOver: 1 }]);
});

test("ALL-14 a run that waits is not overdue, however long its approval may take", async () => {
  const { outside, life } = await begin({ ...APPROVED, approveWithinSeconds: 3_000 });
  await turn(outside, life, 60);
  const { windowEndsMs } = runsOf(life)[0] ?? { windowEndsMs: 0 };
  expect(windowEndsMs).toBeLessThan(outside.clock.nowMs());
  expect(createProgressReader(life.db).overdueRun(outside.clock.nowMs())).toBeUndefined();
  expect(createProgressReader(life.db).overdueRun(outside.clock.nowMs() + 4_000_000)).toBe(heldRun(life));
});

const HALVES = {
  buy: [
    { token: WETH, weight: 500_000n },
    { token: WBTC, weight: 500_000n },
  ],
};

test.each([
  ["an announcement", { ...ANNOUNCED, ...HALVES }],
  ["an approval that comes late", { ...APPROVED, ...HALVES, approveAboveUsd: usd("40") }],
] as const)("ALL-14 what follows %s in its run is bought too, in a window of its own", async (_what, change) => {
  const { outside, life } = await begin({ ...change, gasless: "never" } as Partial<StrategySpec>);
  await turn(outside, life, 60);
  if ("approveAboveUsd" in change) await ask(outside, life, "approve", { run: heldRun(life) });
  expect(await isFilled(outside, life, 90)).toBe(true);
  expect(life.db.prepare("SELECT DISTINCT state FROM swaps").pluck().all()).not.toContain("skipped");
  expect([life.errors, replayAll(life.file)]).toEqual([[], { problems: [], runs: 1 }]);
});

/** Sells 0.1 WETH in two slices of two minutes each; below 900 USDC for one it stops. */
const EXIT = {
  ...dcaSpec(),
  ...{ kind: "twap" as const, id: "exit", buy: USDC, startMs: undefined, exit: true, spread: 0n, announceSeconds: 90 },
  ...{ wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT, retryForSeconds: 100 },
  ...{ schedule: { ...HOURLY.schedule, seconds: 120 }, everySeconds: 120, slices: 2 },
  sell: { token: WETH, raw: 10n ** 17n },
  slice: { unfilled: "roll" as const, max: 10n ** 17n, min: 1n },
  limit: { floor: undefined, abort: { bought: 900_000_000n, sold: 10n ** 18n } },
};

/** What was sold falls to eight tenths of its price. */
function dropPrice({ context: { deps } }: Life): void {
  const { price } = deps.prices;
  deps.prices.price = async (token) => {
    const sample = await price(token);
    return sample === undefined || token.symbol !== WETH.symbol ? sample : { ...sample, usd: usd("800") };
  };
}

const modesOf = ({ db }: Life): unknown[] => db.prepare("SELECT scope, reason FROM modes").all();

test("TWAP-8 an announced slice is not sold once the price is beyond the abort price, and the strategy stops itself", async () => {
  const { outside, life } = await begin(EXIT as unknown as Partial<StrategySpec>);
  dropPrice(life);
  await turn(outside, life, 95);
  expectUnsigned(outside, life, "price_abort");
  expect(modesOf(life)).toEqual([
    { scope: "exit", reason: expect.stringContaining("the abort price is 1 WETH is 900 USDC") },
  ]);
});

test.each([
  ["TWAP-9 an announced slice", { ...EXIT, announceSeconds: 300 }],
  ["BUD-8 an announced purchase", { ...ANNOUNCED, budget: { untilMs: SLOT_MS + 60_000 } }],
])("%s is not made once the strategy's end is over", async (_what, change) => {
  const { outside, life } = await begin(change as unknown as Partial<StrategySpec>);
  await turn(outside, life, 300);
  expectUnsigned(outside, life, "ended");
});

test("BUD-8 a purchase that a person approves after the strategy's end is not made", async () => {
  const { outside, life } = await begin({ ...APPROVED, budget: { untilMs: SLOT_MS + 60_000 } });
  await turn(outside, life, 60);
  await ask(outside, life, "approve", { run: heldRun(life) });
  await turn(outside, life, 5);
  expectUnsigned(outside, life, "ended");
});

test("ALL-12 a swap that comes to need an approval after its approval transaction leaves its token to others", async () => {
  const outside = createOutside(SLOT_MS - 1_500, {
    ...{ ...HOURLY, gasless: "never", retryForSeconds: 300 },
    ...{ approveAboveUsd: usd("100"), approveWithinSeconds: 43_200 },
  });
  const life = openLife(outside);
  const { prices } = life.context.deps;
  const { price } = prices;
  const approving = life.db.prepare("SELECT 1 FROM transitions WHERE to_state = 'approving'");
  let usdc = "0.9999";
  prices.price = async (token) => {
    if (approving.get() !== undefined) usdc = "1.0001";
    const sample = await price(token);
    return sample === undefined || token.symbol !== USDC.symbol ? sample : { ...sample, usd: usd(usdc) };
  };
  await life.engine.start();
  await turn(outside, life, 30);
  expect(alertsOf(life)).toEqual([{ code: "APPROVAL_NEEDED", isOver: 0 }]);
  const grant = { kind: "grant", wallet: ACCOUNT, token: USDC.address } as const;
  expect((await life.store.read(grant)).isBusy).toBe(false);
  await turn(outside, life, 30);
  expect(life.db.prepare("SELECT purpose FROM lane_intents ORDER BY nonce").pluck().all()).toEqual([
    "approve",
    "revoke",
  ]);
  await ask(outside, life, "approve", { run: heldRun(life) });
  expect(await isFilled(outside, life)).toBe(true);
  expect([life.errors, replayAll(life.file)]).toEqual([[], { problems: [], runs: 1 }]);
});

const CHAT = { name: "chat", severities: ["warning" as const], sendsEnds: false };

/** The process dies right behind the commit that announces the swap, and comes back after its time. */
async function beginUntold(change: Partial<StrategySpec>, afterMs: number): Promise<{ outside: Outside; life: Life }> {
  const outside = createOutside(SLOT_MS - 1_500, change);
  const first = openLife(outside, { killAt: (label) => label === "commit.facts-read.after" });
  await setAlertChannels(first.db, [CHAT]);
  await first.engine.start();
  await turn(outside, first, 15);
  expect([first.isDead(), alertsOf(first)]).toEqual([true, [{ code: "SWAP_ANNOUNCED", isOver: 0 }]]);
  first.db.close();
  await outside.clock.advance(afterMs);
  outside.chain.mine();
  const life = openLife(outside);
  await life.engine.start();
  return { outside, life };
}

/** A channel takes what waits for it now. */
async function deliver({ db }: Life, atMs: number): Promise<void> {
  const outbox = createAlertOutbox(db, CHAT.name);
  const waiting = await outbox.next();
  if (waiting === undefined) throw new Error("nothing waits to be sent");
  await outbox.finish(waiting.number, { state: "sent", outcome: "200", atMs });
}

test("ALL-13 the time of an announcement begins once a channel has taken it, and it can be stopped until it is over", async () => {
  const { outside, life } = await beginUntold({ ...ANNOUNCED, retryForSeconds: 600 }, 120_000);
  await turn(outside, life, 30);
  expect([runsOf(life)[0]?.state, outside.signed]).toEqual(["executing", []]);
  await deliver(life, outside.clock.nowMs());
  const untilMs = outside.clock.nowMs() + 90_000;
  expect(await createListing(life.db).waiting(outside.clock.nowMs())).toMatchObject([{ untilMs }]);
  await turn(outside, life, 80);
  expect(outside.signed).toEqual([]);
  const { holds, ...rows } = await life.store.read({ kind: "hold", runId: heldRun(life) });
  const refused = { decision: "refused", by: "ada", atMs: outside.clock.nowMs() } as const;
  expect(decideHoldAnswer({ ...rows, holds }, { runId: heldRun(life), answer: refused }).changes).toHaveLength(2);
  expect(await isFilled(outside, life, 120)).toBe(true);
  expect([life.errors, replayAll(life.file)]).toEqual([[], { problems: [], runs: 1 }]);
});

test("ALL-13 what no channel has taken by the end of its window ends unsigned, and says so", async () => {
  const { outside, life } = await beginUntold({ ...ANNOUNCED, retryForSeconds: 60 }, 95_000);
  await turn(outside, life, 90);
  expectUnsigned(outside, life, "not_announced");
});

test("ALL-13 a channel that took it by a clock that was far ahead lets it wait no longer than until its window was over", async () => {
  const { outside, life } = await beginUntold({ ...ANNOUNCED, retryForSeconds: 120 }, 95_000);
  await turn(outside, life, 10);
  await deliver(life, outside.clock.nowMs() + 365 * 86_400_000);
  await turn(outside, life, 30);
  expect(outside.signed).toEqual([]);
  expect(await isFilled(outside, life, 240)).toBe(true);
  expect(life.errors).toEqual([]);
});

test.each([
  ["approval", APPROVED, "within 2m approve it with"],
  ["announcement", ANNOUNCED, "stop it with"],
])("who answers an %s sees what is sold, however many other alerts were open before", async (kind, change, more) => {
  const outside = createOutside(SLOT_MS - 1_500, change);
  const life = openLife(outside);
  const insert = life.db.prepare(
    `INSERT INTO alerts (id, severity, code, subject, text, raised_at_ms)
     VALUES ('alert of ' || :of, 'warning', 'NO_PRICE', :of, 'no price', 0)`,
  );
  for (let count = 0; count < 150; count += 1) insert.run({ of: `price of ${count}` });
  await life.engine.start();
  await turn(outside, life, 15);
  const listing = createListing(life.db);
  expect((await listing.states()).openAlerts.filter(({ code }) => code !== "NO_PRICE")).toEqual([]);
  const text = expect.stringMatching(new RegExp(`sell 100 USDC .* for about .* WETH.*${more}`));
  expect(await listing.waiting(outside.clock.nowMs())).toMatchObject([{ run: heldRun(life), kind, text }]);
});
