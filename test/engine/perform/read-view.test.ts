import { expect, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { StrategyView } from "../../../src/domain/strategy/decision.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import type { EffectAnswer } from "../../../src/engine/perform/effect-answer.ts";
import { readView } from "../../../src/engine/perform/read-view.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { ETH, NOW_MS, rebalanceSpec, runSample, thresholdSpec, USDC, WBTC, WETH } from "../../support/builders.ts";
import { addRun, addSwap } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";
import { intentRow } from "../../support/lane-database.ts";
import { swapIn } from "../../support/reading-samples.ts";

const wallet = { name: "main", address: ACCOUNT };

async function begin(change: Partial<StrategySpec> = {}) {
  const outside = createOutside(NOW_MS, change);
  const life = openLife(outside);
  await registerStrategies(life.context);
  const run = addRun(life.store, runSample({ state: "deciding", strategyId: outside.spec.id }));
  return { outside, life, run };
}

function viewOf(answer: EffectAnswer): StrategyView {
  if (answer.kind !== "view-read") throw new Error(`no view: ${answer.kind}`);
  return answer.view;
}

test("free is what the wallet holds less what open swaps reserve", async () => {
  const { life, run } = await begin();
  addSwap(life.store, swapIn("submitted", { id: "a", wallet: ACCOUNT, gross: 300_000_000n }));
  const { free, spent, prices } = viewOf(await readView(life.context, run));
  expect(free.get(USDC.address)).toBe(700_000_000n);
  expect(spent.get(USDC.address)).toBe(300_000_000n);
  expect([...prices.keys()].sort()).toEqual([USDC.address, WETH.address].sort());
});

test("reservations above the balance leave nothing free, never less than nothing", async () => {
  const { life, run } = await begin();
  addSwap(life.store, swapIn("submitted", { id: "a", wallet: ACCOUNT, gross: 10n ** 12n }));
  expect(viewOf(await readView(life.context, run)).free.get(USDC.address)).toBe(0n);
});

test("the gas reserve of the native token is not free", async () => {
  const { life, run } = await begin({ buy: ETH });
  expect(viewOf(await readView(life.context, run)).free.get(ETH.address)).toBe(10n ** 19n - 10n ** 16n);
});

test("the whole balance is seen alongside what is free of it", async () => {
  const { life, run } = await begin({ buy: ETH });
  addSwap(life.store, swapIn("submitted", { id: "a", wallet: ACCOUNT, gross: 300_000_000n }));
  const { balances, instants } = viewOf(await readView(life.context, run));
  expect([balances.get(USDC.address), balances.get(ETH.address)]).toEqual([1_000_000_000n, 10n ** 19n]);
  expect(instants, "nobody asked").toBe(0);
});

test.each([
  ["rebalance", { ...rebalanceSpec(), wallet }, [WETH, WBTC, USDC]],
  ["threshold", { ...thresholdSpec(), wallet }, [WETH, USDC]],
] as const)("a %s strategy sees each of its tokens once", async (_kind, change, tokens) => {
  const { life, run } = await begin(change);
  const { free } = viewOf(await readView(life.context, run));
  expect([...free.keys()].sort()).toEqual(tokens.map(({ address }) => address).sort());
});

test("a swap that settles while balances are read makes the view stale: it is read again, not believed", async () => {
  const { life, run, outside } = await begin();
  outside.chain.mine();
  const owner = addSwap(life.store, swapIn("mined", { id: "a", wallet: ACCOUNT }));
  const read = outside.chain.balance.bind(outside.chain);
  outside.chain.balance = async (...asked) => {
    const balance = await read(...asked);
    life.store.writeRecord(owner, { kind: "spend", swapId: "a", amount: 1n }, 1);
    return balance;
  };
  expect(await readView(life.context, run)).toEqual({ kind: "stale" });
});

test("an unpriced token is left out of the prices, and the strategy decides what that means", async () => {
  const { life, run } = await begin();
  const missing = { missing: "stale", detail: "an hour old" } as const;
  const prices = { price: async () => missing };
  const context = { ...life.context, deps: { ...life.context.deps, prices } };
  expect(viewOf(await readView(context, run)).prices.size).toBe(0);
});

test("a chain that cannot be read is no view", async () => {
  const { life, run, outside } = await begin();
  outside.chain.isDown = true;
  expect(await readView(life.context, run)).toEqual({ kind: "view-unavailable", detail: "no node answered" });
});

test("a strategy whose file is gone is read under its last edition", async () => {
  const { life, run } = await begin();
  const context = { ...life.context, settings: { ...life.context.settings, strategies: [] } };
  expect(viewOf(await readView(context, run)).free.get(USDC.address)).toBe(1_000_000_000n);
});

test("balances of before the wallet's last fill or own transaction are none: other nodes are asked, then it waits", async () => {
  const { outside, life, run } = await begin();
  const { chain } = outside;
  const first = await chain.latest();
  for (let blocks = 0; blocks < 3; blocks += 1) chain.mine();
  const { number, hash } = await chain.latest();
  const intent = { id: "w", account: ACCOUNT, nonce: 0, state: "mined", minedBlockNumber: number - 1 } as const;
  life.lanes.insertIntent(intentRow({ ...intent, minedBlockHash: hash, minedAttemptHash: hash }));
  const asked: (number | undefined)[] = [];
  let head = first;
  chain.latest = async (from?: number) => {
    asked.push(from);
    return head;
  };
  const detail = `the node is 2 blocks behind the wallet's last fill or transaction, in block ${number - 1}`;
  expect(await readView(life.context, run)).toEqual({ kind: "view-unavailable", detail });
  const { fill } = swapIn("confirmed");
  if (fill === undefined) throw new Error("a confirmed swap has no fill");
  addSwap(life.store, swapIn("confirmed", { id: "a", wallet: ACCOUNT, fill: { ...fill, blockNumber: number } }));
  expect(await readView(life.context, run)).toMatchObject({ detail: expect.stringContaining(`in block ${number}`) });
  head = { ...first, number };
  expect((await readView(life.context, run)).kind).toBe("view-read");
  expect(asked).toEqual([number - 1, number, number]);
});

const COLD = toAddress(`0x${"c".repeat(40)}`);
const VAULT = toAddress(`0x${"d".repeat(40)}`);

/** A mix that counts two addresses besides its wallet. */
function watching(): Partial<StrategySpec> {
  const watched = [
    { address: COLD, tokens: [WETH, USDC] },
    { address: VAULT, tokens: [WETH] },
  ];
  return { ...rebalanceSpec({ external: { watched, stated: [] } }), wallet };
}

test("REB-29 external addresses are read in the same block as the wallet, and are no part of what is free", async () => {
  const { life, run, outside } = await begin(watching());
  outside.chain.ledger.credit(WETH.address, COLD, 5n);
  outside.chain.ledger.credit(USDC.address, COLD, 7n);
  outside.chain.ledger.credit(WETH.address, VAULT, 11n);
  outside.chain.ledger.credit(USDC.address, VAULT, 13n);
  const blocks = new Set<number | undefined>();
  const read = outside.chain.balance.bind(outside.chain);
  outside.chain.balance = async (token, owner, block) => {
    blocks.add(block);
    return await read(token, owner, block);
  };
  const { external, free, balances } = viewOf(await readView(life.context, run));
  expect(external).toEqual(
    new Map([
      [WETH.address, 16n],
      [USDC.address, 7n],
    ]),
  );
  expect([free.get(WETH.address), balances.get(WETH.address)]).toEqual([3n * 10n ** 18n, 3n * 10n ** 18n]);
  expect([blocks.size, blocks.has(undefined)]).toEqual([1, false]);
});

test("REB-31 an external address that cannot be read is no view, and none counts as empty", async () => {
  const { life, run, outside } = await begin(watching());
  const read = outside.chain.balance.bind(outside.chain);
  outside.chain.balance = async (token, owner, block) => {
    if (owner === VAULT) throw new ChainReadError("unreachable", "no node answered");
    return await read(token, owner, block);
  };
  expect(await readView(life.context, run)).toMatchObject({ kind: "view-unavailable" });
});
