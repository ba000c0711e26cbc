import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { createReconciler } from "../../../src/engine/reconcile/reconciler.ts";
import { HUNDRED_USDC, NOW_MS, POOL, ROUTER, SLOT_MS, USDC, WBTC, WETH } from "../../support/builders.ts";
import { addSwap } from "../../support/daemon-database.ts";
import {
  accept,
  acceptAlone,
  addUnchecked,
  BUDGET,
  begin,
  copyTo,
  fill,
  fills,
  LIFETIME_SECONDS,
  live,
  markerOf,
  nameAfterItsFile,
  open,
} from "../../support/databases-in-turn.ts";
import { ACCOUNT, type Life, maySign, type Outside, openLife, turn, turnUntil } from "../../support/engine-life.ts";
import { refusal } from "../../support/fake-service.ts";
import { submit } from "../../support/lane-database.ts";
import { leaveNoncesOut } from "../../support/leave-nonces-out.ts";
import { swapIn } from "../../support/reading-samples.ts";

describe.each(["only", "never"] as const)(
  "a database that was restored from an older copy (gasless: %s)",
  (gasless) => {
    test("signs nothing, says so, and never sells above the budget, also once the difference is accepted", async () => {
      const outside = begin(gasless);
      await fill(outside, 3);
      const copy = copyTo(outside, "copy.db");
      await fill(outside, BUDGET);
      const restored = { ...outside, file: copy };
      const life = await live(restored);
      expect(open(life)).toContain(gasless === "only" ? "fill" : "nonce");
      await turn(restored, life, 120);
      expect(fills(outside)).toBe(BUDGET);
      expect(outside.reported.filter(({ code }) => code === "DATABASE_BEHIND")).toMatchObject([
        { severity: "critical" },
      ]);
      expect(await accept(life)).toContain(`it counts in the budget of ${outside.spec.id}`);
      await turn(restored, life, 180);
      expect([fills(outside), open(life), life.errors]).toEqual([BUDGET, [], []]);
      expect(life.store.mode(outside.spec.id)?.reason).toContain("completed");
    });
  },
);

test("an older copy with an open order of a service without nonces explains one fill by it, and no other one", async () => {
  const outside = begin("only");
  const { service } = outside;
  service.profile = { ...service.profile, nonceRecord: undefined, signatureHasNonce: false };
  const first = openLife(outside);
  nameAfterItsFile(first, outside);
  await first.engine.start();
  const isOut = (): boolean => service.submissions.length === 1;
  expect(await turnUntil(outside, first, { maxSeconds: 90, isDone: isOut })).toBe(true);
  first.kill();
  first.db.close();
  const copy = copyTo(outside, "copy.db");
  await fill(outside, 3);
  const restored = { ...outside, file: copy };
  const life = await live(restored);
  expect(open(life)).toEqual(["outflow", "outflow"]);
  await turn(restored, life, 30);
  expect([fills(outside), life.store.unsettledSwaps()]).toEqual([3, []]);
  expect(await accept(life)).toContain("accepted 2");
  await turn(restored, life, 300);
  expect([fills(outside), life.errors]).toEqual([BUDGET, []]);
});

describe("a database that is lost", () => {
  test.each(["only", "never"] as const)(
    "is not new, even where the marker is lost too (gasless: %s)",
    async (gasless) => {
      const outside = begin(gasless);
      await fill(outside, BUDGET);
      const emptied = { ...outside, file: join(dirname(outside.file), "another.db") };
      const life = await live(emptied);
      expect(open(life)).toEqual(["new"]);
      await turn(emptied, life, 180);
      expect([fills(outside), life.errors]).toEqual([BUDGET, []]);
      expect(life.store.openDifferences()[0]?.text).toContain("the chain knows 4 fills of it");
    },
  );

  test("is reported by the marker, with every fill since it began, and accepted fills count in the budget", async () => {
    const outside = begin("only");
    const marker = markerOf(outside);
    await fill(outside, BUDGET, marker);
    const emptied = { ...outside, file: join(dirname(outside.file), "another.db") };
    const life = await live(emptied, marker);
    expect(open(life)).toEqual(["lost", ...Array(BUDGET).fill("fill")]);
    await turn(emptied, life, 60);
    expect(await accept(life)).toContain("refused: what another database signed may be filled until its deadline");
    await turn(emptied, life, LIFETIME_SECONDS - 60);
    expect(fills(outside)).toBe(BUDGET);
    expect(await accept(life)).toContain("accepted 5");
    await turn(emptied, life, 120);
    expect([fills(outside), open(life), life.errors]).toEqual([BUDGET, [], []]);
  });
});

test("a clock that is set ahead shortens no wait for what another database signed, and one that is set back lengthens none", async () => {
  for (const jumpMs of [LIFETIME_SECONDS * 1_000, -LIFETIME_SECONDS * 1_000]) {
    const outside = begin("only");
    const marker = markerOf(outside);
    await fill(outside, BUDGET, marker);
    const emptied = { ...outside, file: join(dirname(outside.file), "another.db") };
    const life = await live(emptied, marker);
    outside.clock.jumpTo(outside.clock.nowMs() + jumpMs);
    await turn(emptied, life, 60);
    expect(await acceptAlone(life)).toContain("refused: what another database signed may be filled until its deadline");
    await turn(emptied, life, LIFETIME_SECONDS - 60);
    expect(await acceptAlone(life)).toContain("accepted 5");
  }
});

test("the right database, put back after another one was started in its place, trades on without a word", async () => {
  const outside = begin("only");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const copy = copyTo(outside, "copy.db");
  await fill(outside, 2, marker);
  for (const file of [copy, join(dirname(outside.file), "another.db")]) {
    const wrong = await live({ ...outside, file }, marker);
    expect(open(wrong)).not.toEqual([]);
    await turn({ ...outside, file }, wrong, 30);
    await wrong.engine.stop();
  }
  const life = await live(outside, marker);
  await turn(outside, life, 90);
  expect([open(life), fills(outside) > 2, life.errors]).toEqual([[], true, []]);
});

test("an order that the old database submitted, and that is filled late, counts in the budget too", async () => {
  const outside = begin("only");
  const marker = markerOf(outside);
  await fill(outside, BUDGET - 1, marker);
  const copy = copyTo(outside, "copy.db");
  outside.chain.holdsRelayed = true;
  const before = openLife(outside, { marker });
  await before.engine.start();
  const handedOver = (): boolean => outside.service.submissions.length === BUDGET;
  expect(await turnUntil(outside, before, { maxSeconds: 90, isDone: handedOver })).toBe(true);
  before.kill();
  const restored = { ...outside, file: copy };
  const life = await live(restored, marker);
  expect([open(life), await accept(life)]).toEqual([["older"], expect.stringContaining("refused")]);
  outside.chain.holdsRelayed = false;
  await turn(restored, life, LIFETIME_SECONDS);
  expect(await accept(life)).toContain("accepted 1");
  const isSeen = (): boolean => open(life).includes("fill");
  expect(await turnUntil(restored, life, { maxSeconds: 20, isDone: isSeen })).toBe(true);
  expect(await accept(life)).toContain(`it counts in the budget of ${outside.spec.id}`);
  await turn(restored, life, 120);
  expect([fills(outside), open(life), life.errors]).toEqual([BUDGET, [], []]);
});

test("a run that is open in an older copy is not traded once more when the fill of it is accepted", async () => {
  const outside = begin("only");
  outside.service.refuses = refusal("BUSY", true);
  const before = openLife(outside);
  await before.engine.start();
  const runs = ({ db }: Life): unknown[] => db.prepare("SELECT state, reason FROM runs ORDER BY slot_ms").all();
  await turnUntil(outside, before, { maxSeconds: 90, isDone: () => runs(before).length === 1 });
  await turn(outside, before, 2);
  const copy = copyTo(outside, "copy.db");
  outside.service.refuses = undefined;
  expect(await turnUntil(outside, before, { maxSeconds: 50, isDone: () => fills(outside) === 1 })).toBe(true);
  before.kill();
  // The run has got no further when the fill is accepted.
  outside.service.refuses = refusal("BUSY", true);
  const restored = { ...outside, file: copy };
  const life = await live(restored);
  expect([open(life), runs(life)]).toEqual([["fill"], [{ state: "executing", reason: null }]]);
  expect(await accept(life)).toContain(`it counts in the budget of ${outside.spec.id}`);
  expect(runs(life)).toEqual([{ state: "executing", reason: null }]);
  outside.service.refuses = undefined;
  await turn(restored, life, 90);
  expect([runs(life)[0], life.errors]).toEqual([{ state: "skipped", reason: "signing_barred" }, []]);
});

test("what such a run had signed still comes to its end: an order's leftover is taken back, and its money is free", async () => {
  const outside = begin("only");
  const { service, chain } = outside;
  service.profile = { ...service.profile, ...{ idempotentExecuteSwap: false, signatureHasNonce: false } };
  service.profile = { ...service.profile, nonceRecord: undefined };
  service.delivery = "lost";
  service.swapRecord = async () => ({ status: "failed", hash: undefined, raw: {} });
  const life = await live(outside);
  const swaps = (): unknown[] => life.db.prepare("SELECT state FROM swaps ORDER BY created_at_ms").pluck().all();
  expect(await turnUntil(outside, life, { maxSeconds: 90, isDone: () => swaps()[0] === "unknown" })).toBe(true);
  life.store.barOpenRuns();
  chain.ledger.setAllowance(USDC.address, ACCOUNT, 5n);
  await turnUntil(outside, life, { maxSeconds: 300, isDone: () => swaps()[0] === "expired" });
  expect([swaps()[0], life.errors]).toEqual(["expired", []]);
});

test("what such a run wrote down for the chain and did not sign is not signed any more, but for taking back", async () => {
  const outside = begin("never");
  const life = await live(outside);
  addSwap(life.store, swapIn("signed", { wallet: ACCOUNT }));
  const [run] = life.store.openWork();
  const ids = [`${run?.swapId}.swap`, `${run?.swapId}.approve1`, `${run?.swapId}.revoke1`];
  const purposes = ["swap", "approve", "revoke"] as const;
  for (const [place, purpose] of purposes.entries()) {
    const terms = { to: USDC.address, data: "0x", value: 0n, gasLimit: 21_000n, maxFeePerGasCap: 1n } as const;
    const request = { id: ids[place] ?? "", purpose, ...terms, signBySeconds: 2 ** 40, deadlineSeconds: undefined };
    submit(life.lanes, { account: ACCOUNT, chainId: 31_337 }, request);
  }
  const may = () => Promise.all(ids.map((id) => maySign(life, id)));
  expect(await may()).toEqual([true, true, true]);
  life.store.barOpenRuns();
  expect(await may()).toEqual([false, false, true]);
});

test("a sale of which only the sold token is known counts in the budget of anyone who sells that", async () => {
  const outside = begin("only");
  await fill(outside, 1);
  const life = await live(outside);
  const hash = `0x${"ab".repeat(32)}`;
  const what = { wallet: ACCOUNT, token: USDC.address, kind: "outflow", scope: "token", text: "left" } as const;
  const facts = { token: USDC.address, amount: (3n * HUNDRED_USDC).toString(), hash };
  life.store.addDifference(
    { ...what, key: `outflow ${ACCOUNT} ${hash} ${USDC.address} #0`, facts },
    { ms: 0, sinceBoot: { id: "boot", ms: 0 } },
  );
  expect(await accept(life)).toContain(`it counts in the budget of ${outside.spec.id}`);
  await turn(outside, life, 180);
  expect([fills(outside), life.errors]).toEqual([1, []]);
});

test("an accepted outflow that is mined once more, at another place of a block, is the same one: it counts once", async () => {
  const outside = begin("never", 10);
  await fill(outside, 1);
  outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: ROUTER, amount: HUNDRED_USDC });
  outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: ROUTER, amount: HUNDRED_USDC });
  const life = await live(outside);
  expect(open(life)).toEqual(["outflow", "outflow"]);
  expect(await accept(life)).toContain("accepted 2");
  const logs = outside.chain.logs.bind(outside.chain);
  outside.chain.logs = async (filter) => (await logs(filter)).map((log) => ({ ...log, logIndex: log.logIndex + 3 }));
  await turn(outside, life, 4);
  expect([open(life), life.errors]).toEqual([[], []]);
  expect(life.db.prepare("SELECT count(*) FROM accepted_sales").pluck().get()).toBe(2);
});

test("a fork between the logs and the balances of a check proves nothing: it is looked at again", async () => {
  const outside = begin("never");
  await fill(outside, 1);
  const { chain } = outside;
  chain.ledger.credit(USDC.address, ROUTER, 500n);
  chain.takeAway({ token: USDC.address, from: ROUTER, to: ACCOUNT, amount: 500n });
  const logs = chain.logs.bind(chain);
  let isForked = false;
  chain.logs = async (filter) => {
    const found = await logs(filter);
    // The last of them is read; the balances come next.
    const isLast = filter.topics.length === 3;
    if (isLast && !isForked) chain.reorganise(1);
    isForked ||= isLast;
    return found;
  };
  const life = await live(outside);
  await turnUntil(outside, life, { maxSeconds: 10, isDone: () => open(life).length === 0 });
  expect([isForked, open(life), life.errors]).toEqual([true, [], []]);
  expect(outside.reported.filter(({ code }) => code === "DATABASE_BEHIND")).toEqual([]);
});

test("a node that loses one answer in six does not keep the wallet from being looked at", async () => {
  const outside = begin("only");
  await fill(outside, 1);
  const life = await live(outside);
  let asked = 0;
  const losing =
    <Args extends readonly unknown[], Answer>(read: (...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> => {
      asked += 1;
      return asked % 6 === 0 ? Promise.reject(new ChainReadError("unreachable", "reset")) : read(...args);
    };
  const { chain } = outside;
  chain.logs = losing(chain.logs.bind(chain));
  chain.allowance = losing(chain.allowance.bind(chain));
  chain.balance = losing(chain.balance.bind(chain));
  await addUnchecked(life.context, ACCOUNT);
  await turnUntil(outside, life, { maxSeconds: 60, isDone: () => open(life).length === 0 });
  expect([open(life), life.errors]).toEqual([[], []]);
});

describe("the marker", () => {
  test("reports an older copy by the signatures that it does not know, whatever the chain shows", async () => {
    const outside = begin("only");
    const marker = markerOf(outside);
    await fill(outside, 1, marker);
    const copy = copyTo(outside, "copy.db");
    outside.chain.holdsRelayed = true;
    const before = openLife(outside, { marker });
    await before.engine.start();
    const handedOver = (): boolean => outside.service.submissions.length === 2;
    expect(await turnUntil(outside, before, { maxSeconds: 90, isDone: handedOver })).toBe(true);
    before.kill();
    const life = await live({ ...outside, file: copy }, marker);
    expect(open(life)).toEqual(["older"]);
  });

  test("reports a copy in which an order was only meant to be signed: it is not submitted once more", async () => {
    const outside = begin("only");
    const { service } = outside;
    service.profile = {
      ...service.profile,
      idempotentExecuteSwap: false,
      signatureHasNonce: false,
      nonceRecord: undefined,
    };
    const marker = markerOf(outside);
    const first = openLife(outside, { marker, killAt: (label) => label === "effect.SignGasless.before" });
    nameAfterItsFile(first, outside);
    await first.engine.start();
    await turn(outside, first, 62);
    first.db.close();
    const copy = copyTo(outside, "copy.db");
    outside.chain.holdsRelayed = true;
    const before = openLife(outside, { marker });
    await before.engine.start();
    const handedOver = (): boolean => service.submissions.length === 1;
    expect(await turnUntil(outside, before, { maxSeconds: 20, isDone: handedOver })).toBe(true);
    before.kill();
    const restored = { ...outside, file: copy };
    const life = await live(restored, marker);
    await turn(restored, life, 10);
    expect([open(life), service.submissions.length]).toEqual([["older"], 1]);
  });

  test("a request that stands in an older copy, and that nobody took, is no word on what the copy lacks", async () => {
    const outside = begin("only");
    const marker = markerOf(outside);
    await fill(outside, 1, marker);
    const before = openLife(outside, { marker });
    const request = { arguments: {}, madeBy: "ops", madeAtMs: outside.clock.nowMs() };
    const id = before.store.addRequest({ command: "accept", ...request });
    before.db.close();
    const copy = copyTo(outside, "copy.db");
    await fill(outside, 2, marker);
    const restored = { ...outside, file: copy };
    const life = await live(restored, marker);
    await turn(restored, life, LIFETIME_SECONDS + 60);
    expect([open(life), fills(outside), life.errors]).toEqual([["older", "fill"], 2, []]);
    expect(life.store.answerOf(id)).toContain("refused: it was asked before this copy");
    expect(await accept(life), "asked now").toContain("accepted 2");
  });

  test("a kill at any place around a signature leaves a database that its marker does not halt", async () => {
    const outside = begin("only");
    const marker = markerOf(outside);
    for (const label of [
      "commit.facts-read.after",
      "gasless.sign.before",
      "gasless.sign.after",
      "gasless.submit.before",
    ]) {
      const life = openLife(outside, { marker, killAt: (passed) => passed === label });
      await life.engine.start();
      await turn(outside, life, 70);
      expect([label, life.isDead(), open(life)]).toEqual([label, true, []]);
      life.db.close();
    }
    const life = await live(outside, marker);
    await turn(outside, life, 60);
    expect([open(life), life.errors]).toEqual([[], []]);
  });

  test("stands in one file a wallet and chain", async () => {
    const outside = begin("only");
    await fill(outside, 1, markerOf(outside));
    const folder = join(dirname(outside.file), "identity");
    expect(readdirSync(folder)).toEqual([`31337-${ACCOUNT}.json`]);
  });
});

describe("what the chain shows and no row explains", () => {
  test("a fill of somebody who has the key halts the wallet, with its numbers", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const order = { owner: ACCOUNT, recipient: ACCOUNT, fromAsset: USDC.address, toAsset: WETH.address, swapFee: 1n };
    const terms = { deadline: 2n ** 40n, amountOut: 1n, amountOutMin: 1n, gross: 5n, nonce: 999n };
    outside.chain.submitOrder({ ...order, ...terms }, 5n);
    outside.chain.mine();
    const life = await live(outside);
    expect(open(life)).toEqual(["fill"]);
    expect(life.store.openDifferences()[0]?.text).toContain(
      "sold 0.000005 USDC for 0.000000000000000001 WETH in block",
    );
  });

  test("tokens that somebody took are reported with their amount, and nothing that trades them is signed", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: ROUTER, amount: 7n });
    const life = await live(outside);
    expect(open(life)).toEqual(["outflow"]);
    const { text } = life.store.openDifferences()[0] ?? {};
    expect(text).toMatch(new RegExp(`^0.000007 USDC left ${ACCOUNT} in block \\d+, .*no row knows why$`));
    const reported = outside.reported.filter(({ code }) => code === "DATABASE_BEHIND");
    expect(reported.map((alert) => alert.text)).toEqual([
      `${text}; nothing that it touches is signed. See: swapd db check; accept: swapd db accept`,
    ]);
    await turn(outside, life, 120);
    expect([fills(outside), life.errors]).toEqual([1, []]);
  });

  test.each([
    ["is our fill", "only", false, ["outflow"]],
    ["is somebody else's fill with the key", "only", true, ["fill", "outflow"]],
    ["is our own", "never", false, []],
  ] as const)("another token that leaves in a transaction that %s", async (_what, gasless, isForeign, kinds) => {
    const outside = begin(gasless);
    const { chain } = outside;
    await fill(outside, 1);
    if (isForeign) {
      const order = { owner: ACCOUNT, recipient: ACCOUNT, fromAsset: USDC.address, toAsset: WETH.address, swapFee: 1n };
      chain.submitOrder({ ...order, deadline: 2n ** 40n, amountOut: 1n, amountOutMin: 1n, gross: 5n, nonce: 999n }, 5n);
      chain.mine();
    }
    const isFill = ({ logs }: { logs: readonly { address: string }[] }) =>
      logs.some(({ address }) => address === WETH.address);
    const transactionHash = chain.receipts().filter(isFill).at(-1)?.hash ?? "0x";
    chain.ledger.credit(WBTC.address, ACCOUNT, 7n);
    chain.takeAway({ token: WBTC.address, from: ACCOUNT, to: ROUTER, amount: 7n });
    const logs = chain.logs.bind(chain);
    chain.logs = async (filter) =>
      (await logs(filter)).map((log) => (log.address === WBTC.address ? { ...log, transactionHash } : log));
    expect(open(await live(outside))).toEqual(kinds);
  });

  test("is found within the hour also while the daemon runs", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const { context, store } = openLife(outside);
    const reconciler = createReconciler(context);
    await reconciler.begin();
    await reconciler.scan();
    for (let block = 0; block < 5; block += 1) outside.chain.mine();
    outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: ROUTER, amount: 7n });
    await outside.clock.advance(3_599_000);
    await reconciler.scan();
    expect(store.openDifferences()).toEqual([]);
    await outside.clock.advance(1_000);
    await reconciler.scan();
    expect(store.openDifferences()).toMatchObject([{ kind: "outflow" }]);
  });

  test("is told although something else is open that nobody has accepted", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: ROUTER, amount: 7n });
    const life = await live(outside);
    outside.chain.takeAway({ token: WETH.address, from: ACCOUNT, to: ROUTER, amount: 9n });
    await turn(outside, life, 3_700);
    expect(open(life)).toEqual(["outflow", "outflow"]);
    const reported = outside.reported.filter(({ code }) => code === "DATABASE_BEHIND");
    expect(reported.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^0\.000007 USDC left /),
      expect.stringMatching(/^0\.000000000000000009 WETH left .* \(and 1 more\); nothing that it touches is signed/),
    ]);
    const over = "SELECT over_at_ms IS NOT NULL FROM alerts WHERE code = 'DATABASE_BEHIND' ORDER BY number";
    expect(life.db.prepare(over).pluck().all()).toEqual([1, 0]);
    await accept(life);
    expect(life.db.prepare(over).pluck().all()).toEqual([1, 1]);
  });

  test("is counted without what the same check has proved", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const logs = outside.chain.logs.bind(outside.chain);
    outside.chain.logs = () => Promise.reject(new ChainReadError("refused", "history has been pruned"));
    const life = await live(outside);
    expect(open(life)).toEqual(["cannot-prove"]);
    outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: ROUTER, amount: 7n });
    outside.chain.logs = logs;
    await turn(outside, life, 120);
    expect(open(life)).toEqual(["outflow"]);
    const told = outside.reported.filter(({ code }) => code === "DATABASE_BEHIND").at(-1)?.text;
    expect(told).toMatch(/^0\.000007 USDC left .*no row knows why; nothing that it touches is signed/);
  });

  test("an allowance that nobody granted is reported, and taken back once it is accepted", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    outside.chain.ledger.setAllowance(WETH.address, ACCOUNT, 77n);
    for (let block = 0; block < 4; block += 1) outside.chain.mine();
    const life = await live(outside);
    expect(open(life)).toEqual(["allowance"]);
    expect(await accept(life)).toContain("it is taken back");
    await turn(outside, life, 60);
    expect(await outside.chain.allowance({ token: WETH.address, owner: ACCOUNT, spender: ROUTER })).toBe(0n);
  });
});

test("an outflow that an open swap alone may explain is looked at again when that swap ended without it", async () => {
  const outside = begin("only");
  outside.service.profile = { ...swapdProfile, signatureHasNonce: false, nonceRecord: undefined };
  const { context, store } = openLife(outside);
  const check = async (): Promise<readonly string[]> => {
    const reconciler = createReconciler(context);
    await reconciler.begin();
    await reconciler.scan();
    return store.openDifferences().map(({ kind }) => kind);
  };
  expect(await check()).toEqual([]);
  const swap = swapIn("submitted", { wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" });
  const run = addSwap(store, swap);
  const order = { owner: ACCOUNT, recipient: ACCOUNT, fromAsset: USDC.address, toAsset: WETH.address, swapFee: 1n };
  outside.chain.submitOrder(
    { ...order, deadline: 2n ** 40n, amountOut: 1n, amountOutMin: 1n, gross: HUNDRED_USDC, nonce: 999n },
    HUNDRED_USDC,
  );
  for (let block = 0; block < 10; block += 1) outside.chain.mine();
  expect(await check()).toEqual([]);
  const move = { subject: "swap", subjectId: swap.id, from: "submitted", to: "expired" } as const;
  const ended = { ...run, swaps: [{ ...run.swaps[0], state: "expired" as const } as Swap] };
  store.saveRun(ended, [{ ...move, reason: "expired", detail: undefined }], SLOT_MS);
  expect(await check()).toEqual(["outflow"]);
});

/** A wallet that was checked, and since then has one open order without a nonce; and the next check of it. */
async function openOrder() {
  const outside = begin("only");
  leaveNoncesOut(outside.service);
  const { context, store } = openLife(outside);
  const reconciler = createReconciler(context);
  const check = async (): Promise<void> => {
    await reconciler.begin();
    await reconciler.scan();
  };
  await check();
  addSwap(store, swapIn("submitted", { wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" }));
  return { outside, store, check };
}

test("an open order explains nothing that is less than what it signed", async () => {
  const { outside, store, check } = await openOrder();
  outside.chain.mine();
  outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: 5n });
  await check();
  expect(store.openDifferences()).toMatchObject([{ kind: "outflow" }]);
});

test.each([
  ["explains what took its token in the last second of its time", 60, []],
  ["explains nothing after its deadline: another database's order may have done that", 61, [{ kind: "outflow" }]],
])("an open order %s", async (_what, afterSeconds, found) => {
  const { outside, store, check } = await openOrder();
  outside.clock.jumpTo(NOW_MS + afterSeconds * 1_000);
  outside.chain.mine();
  outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: HUNDRED_USDC });
  await check();
  expect(store.openDifferences()).toMatchObject(found);
});

test("an open order explains one transaction that took what it signed, and no second one within its time", async () => {
  const { outside, store, check } = await openOrder();
  for (const _order of ["ours", "another database's"]) {
    outside.chain.mine();
    outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: HUNDRED_USDC });
  }
  await check();
  expect(store.openDifferences()).toMatchObject([{ kind: "outflow" }]);
});

test("an open order explains nothing that the wallet's own key sent", async () => {
  const { outside, store, check } = await openOrder();
  const { chain } = outside;
  chain.mine();
  chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: HUNDRED_USDC });
  const receipt = chain.receipt.bind(chain);
  chain.receipt = async (hash) => {
    const seen = await receipt(hash);
    return seen && { ...seen, from: ACCOUNT };
  };
  await check();
  expect(store.openDifferences()).toMatchObject([{ kind: "outflow" }]);
});

test.each([
  ["a contract that it was signed for", ROUTER, 0],
  ["another one", WBTC.address, 1],
])(
  "a part of an open order that went to a pool is its fill by the logs of %s in the same transaction",
  async (_who, address, count) => {
    const { outside, store, check } = await openOrder();
    const { chain } = outside;
    chain.mine();
    chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: HUNDRED_USDC - 1n });
    const receipt = chain.receipt.bind(chain);
    chain.receipt = async (hash) => {
      const seen = await receipt(hash);
      return seen && { ...seen, logs: [...seen.logs, { address, topics: [], data: "0x", logIndex: 9 }] };
    };
    await check();
    expect(store.openDifferences()).toHaveLength(count);
  },
);

describe("a token whose allowance is refused", () => {
  /** From here on the allowance of a token cannot be read. @returns ends that */
  function refuseAllowance({ chain }: Outside, refused: string): () => void {
    const allowance = chain.allowance.bind(chain);
    chain.allowance = (grant, block) =>
      grant.token === refused
        ? Promise.reject(new ChainReadError("refused", "execution reverted"))
        : allowance(grant, block);
    return () => {
      chain.allowance = allowance;
    };
  }

  test("halts who trades it and nobody else, until it can be read", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const allow = refuseAllowance(outside, WBTC.address);
    const life = await live(outside);
    expect(life.store.openDifferences()).toMatchObject([{ kind: "cannot-prove", scope: "token", token: WBTC.address }]);
    await turn(outside, life, 120);
    expect([fills(outside) > 1, life.errors]).toEqual([true, []]);
    allow();
    await turn(outside, life, 120);
    expect(open(life)).toEqual([]);
  });

  test("is traded again by who sends transactions of his own, also where logs are never read back", async () => {
    const outside = begin("never");
    await fill(outside, 1);
    const allow = refuseAllowance(outside, WETH.address);
    outside.chain.logs = () => Promise.reject(new ChainReadError("refused", "history has been pruned"));
    const life = await live(outside);
    await turn(outside, life, 120);
    expect(fills(outside)).toBe(1);
    allow();
    await turn(outside, life, 240);
    expect([open(life), fills(outside) > 1]).toEqual([["cannot-prove"], true]);
  });

  test("is traded again once a person accepts that nobody can know", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    refuseAllowance(outside, WETH.address);
    const life = await live(outside);
    expect(open(life)).toEqual(["cannot-prove"]);
    expect(await accept(life)).toContain("accepted 1");
    await turn(outside, life, 180);
    expect([open(life), fills(outside) > 1]).toEqual([[], true]);
  });

  test("keeps a new wallet from nothing but its first check, which a person answers then", async () => {
    const outside = begin("only");
    refuseAllowance(outside, WETH.address);
    const life = await live(outside);
    expect(open(life)).toEqual(["new"]);
    expect(life.store.openDifferences()[0]?.text).toContain("execution reverted");
  });
});

describe("a token that refuses to say what the wallet has", () => {
  /** @returns ends it */
  function refuseBalance({ chain }: Outside, refused: string): () => void {
    const balance = chain.balance.bind(chain);
    chain.balance = (token, owner, block) =>
      token === refused
        ? Promise.reject(new ChainReadError("reverted", `${token} refuses balanceOf`))
        : balance(token, owner, block);
    return () => {
      chain.balance = balance;
    };
  }

  test("halts who trades it and nobody else, until it answers", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const answer = refuseBalance(outside, WBTC.address);
    const life = await live(outside);
    expect(life.store.openDifferences()).toMatchObject([{ kind: "cannot-prove", scope: "token", token: WBTC.address }]);
    await turn(outside, life, 120);
    expect([fills(outside) > 1, life.errors]).toEqual([true, []]);
    answer();
    await turn(outside, life, 120);
    expect(open(life)).toEqual([]);
  });

  test("hides no loss: what the logs give is held against its answer, also over a start", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const answer = refuseBalance(outside, WBTC.address);
    const first = await live(outside);
    await turn(outside, first, 60);
    await first.engine.stop();
    answer();
    const balance = outside.chain.balance.bind(outside.chain);
    const { number } = await outside.chain.latest();
    outside.chain.balance = async (token, owner, block = number) =>
      (await balance(token, owner, block)) - (token === WBTC.address && block >= number ? 1n : 0n);
    const life = await live(outside);
    expect(life.store.openDifferences()).toContainEqual(
      expect.objectContaining({ kind: "cannot-prove", scope: "gasless", token: WBTC.address }),
    );
  });
});

test("what keeps one wallet from being looked at keeps no other one", async () => {
  const outside = begin("only");
  await fill(outside, 1);
  const { context, store } = openLife(outside);
  const other = toAddress(`0x${"77".repeat(20)}`);
  const allowance = outside.chain.allowance.bind(outside.chain);
  outside.chain.allowance = (grant, block) =>
    grant.owner === other
      ? Promise.reject(new ChainReadError("malformed answer", "no number"))
      : allowance(grant, block);
  const signers = new Map(
    [...context.deps.signers.values()].flatMap((one) => [[other, one] as const, [ACCOUNT, one] as const]),
  );
  const reconciler = createReconciler({ ...context, deps: { ...context.deps, signers } });
  await reconciler.begin();
  await reconciler.scan();
  expect(store.openDifferences()).toMatchObject([{ kind: "unchecked", wallet: other }]);
});

test("a count of transactions that one node says and the endpoints together do not halts nobody", async () => {
  const outside = begin("never");
  await fill(outside, 1);
  const count = outside.chain.transactionCount.bind(outside.chain);
  let lies = 1;
  outside.chain.transactionCount = async (address, block) => {
    const isLie = block === "latest" && lies > 0;
    if (isLie) lies -= 1;
    return (await count(address, block)) + (isLie ? 5 : 0);
  };
  const life = await live(outside);
  expect([lies, open(life)]).toEqual([0, []]);
  await turn(outside, life, 120);
  expect([open(life), fills(outside) > 1, life.errors]).toEqual([[], true, []]);
});

describe("logs that cannot be read back", () => {
  test("prove nothing: gasless stays halted until they can, and the same database goes on by itself then", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const logs = outside.chain.logs.bind(outside.chain);
    outside.chain.logs = () => Promise.reject(new ChainReadError("refused", "history has been pruned"));
    const life = await live(outside);
    expect(open(life)).toEqual(["cannot-prove"]);
    await turn(outside, life, 120);
    expect(fills(outside)).toBe(1);
    outside.chain.logs = logs;
    await life.engine.stop();
    const again = await live(outside);
    await turn(outside, again, 120);
    expect([open(again), fills(outside) > 1, again.errors]).toEqual([[], true, []]);
  });

  test("halt no strategy that sends its own transactions: their count reports the same", async () => {
    const outside = begin("never");
    await fill(outside, 1);
    outside.chain.logs = () => Promise.reject(new ChainReadError("refused", "history has been pruned"));
    const life = await live(outside);
    expect(open(life)).toEqual(["cannot-prove"]);
    await turn(outside, life, 120);
    expect(fills(outside)).toBeGreaterThan(1);
  });

  test("a node that leaves them out without a word is noticed by the balance that they do not explain", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const copy = copyTo(outside, "copy.db");
    await fill(outside, 2);
    outside.chain.hidesLogs = true;
    const life = await live({ ...outside, file: copy });
    expect(open(life)).toEqual(["cannot-prove"]);
  });

  test("a further loss is another one than what was accepted of the same block", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const life = await live(outside);
    const isHeld = outside.chain.finalized.bind(outside.chain);
    outside.chain.finalized = async () => ({ ...(await isHeld()), number: 1 });
    for (const missing of [3n, 5n]) {
      outside.chain.ledger.credit(WBTC.address, ACCOUNT, -missing);
      await addUnchecked(life.context, ACCOUNT);
      await turn(outside, life, 5);
      expect([open(life), await accept(life)]).toEqual([["cannot-prove"], expect.stringContaining("accepted 1")]);
    }
    await turn(outside, life, 5);
    expect([open(life), life.errors]).toEqual([[], []]);
  });

  test("a node that left them out is believed within two minutes of showing them again", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const copy = copyTo(outside, "copy.db");
    await fill(outside, 2);
    for (let mined = 0; mined < 600; mined += 1) outside.chain.mine();
    outside.chain.hidesLogs = true;
    const life = await live({ ...outside, file: copy });
    expect(open(life)).toEqual(["cannot-prove"]);
    await turn(outside, life, 30);
    outside.chain.hidesLogs = false;
    await turn(outside, life, 120);
    expect(open(life)).toContain("fill");
  });

  test("a node that shows them again is believed within two minutes, and nobody has to start anew", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const logs = outside.chain.logs.bind(outside.chain);
    outside.chain.logs = () => Promise.reject(new ChainReadError("refused", "history has been pruned"));
    const life = await live(outside);
    expect(open(life)).toEqual(["cannot-prove"]);
    await turn(outside, life, 30);
    outside.chain.logs = logs;
    await turn(outside, life, 120);
    expect([open(life), fills(outside) > 1, life.errors]).toEqual([[], true, []]);
  });

  test("a node that is away is waited for: nothing is signed, and nobody has to come", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const logs = outside.chain.logs.bind(outside.chain);
    outside.chain.logs = () => Promise.reject(new ChainReadError("unreachable", "connection refused"));
    const life = await live(outside);
    expect(open(life)).toEqual(["unchecked"]);
    await turn(outside, life, 70);
    expect([fills(outside), open(life)]).toEqual([1, ["unchecked"]]);
    outside.chain.logs = logs;
    await turn(outside, life, 100);
    expect([open(life), fills(outside) > 1]).toEqual([[], true]);
  });
});

test("a dry run holds nothing back, and a wallet that never traded needs nobody's word", async () => {
  const outside = begin("only");
  const dry = openLife(outside, { settings: { live: false } });
  await dry.engine.start();
  expect(open(dry)).toEqual([]);
  await dry.engine.stop();
  const life = await live(outside);
  expect(open(life)).toEqual([]);
  expect(life.store.knownChain(ACCOUNT)?.baseline.transactionCount).toBe(0);
});

test.each<[string, (outside: Outside) => void, string]>([
  [
    "of a long chain nobody reads all",
    ({ chain }) => {
      const latest = chain.latest.bind(chain);
      chain.latest = async () => ({ ...(await latest()), number: 30_000_000 });
    },
    "30000000 blocks are too many to read back",
  ],
  [
    "an allowance is a trace",
    ({ chain }) => chain.ledger.setAllowance(WETH.address, ACCOUNT, 1n),
    `it allows ${ROUTER} to take 0.000000000000000001 WETH`,
  ],
])("a wallet that the chain cannot know to be new needs a person's word: %s", async (_what, change, why) => {
  const outside = begin("only");
  change(outside);
  const { context, store } = openLife(outside);
  const reconciler = createReconciler(context);
  await reconciler.begin();
  await reconciler.scan();
  expect(store.openDifferences()).toMatchObject([{ kind: "new", text: expect.stringContaining(why) }]);
});

test("a wallet that somebody said begins with a new database needs nobody's word, though it traded before", async () => {
  const outside = begin("only");
  await fill(outside, 1);
  const marker = markerOf(outside);
  marker.write(ACCOUNT, { state: undefined, baseline: undefined });
  const life = await live({ ...outside, file: join(dirname(outside.file), "another.db") }, marker);
  expect(open(life)).not.toContain("new");
  expect(life.store.knownChain(ACCOUNT)).toBeDefined();
});
