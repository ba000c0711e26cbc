import { describe, expect, test } from "vitest";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { measureFill } from "../../../src/domain/run/measure-fill.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { performEffect } from "../../../src/engine/perform/perform-effect.ts";
import { readChain } from "../../../src/engine/perform/read-chain.ts";
import { signGasless } from "../../../src/engine/perform/sign-gasless.ts";
import { submitGasless } from "../../../src/engine/perform/submit-gasless.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { HUNDRED_USDC, NOW_MS, RELAYER, ROUTER, runSample, USDC, WBTC, WETH } from "../../support/builders.ts";
import { addRun, addSwap } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";
import { hash, swapIn, transferLog } from "../../support/reading-samples.ts";

const owned = { wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" } as const;
const typedData = { domain: {}, types: { A: [{ name: "a", type: "uint256" }] }, primaryType: "A", message: { a: "1" } };
const seconds = Math.floor(NOW_MS / 1_000);

async function begin(swap: Swap, options: Parameters<typeof openLife>[1] = {}) {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside, options);
  await registerStrategies(life.context);
  const run = addRun(life.store, runSample({ swaps: [swap] }));
  return { outside, life, run, context: life.context };
}

type Life = ReturnType<typeof openLife>;
type Outside = ReturnType<typeof createOutside>;

type Begun = Awaited<ReturnType<typeof begin>>;

function halt({ store }: Life): void {
  store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "dry run", atMs: 1 });
}

describe("signing", () => {
  async function cleared(): Promise<{ swap: Swap; begun: Begun }> {
    const swap = swapIn("cleared", owned);
    const begun = await begin(swap);
    const digest = begun.context.deps.digest(typedData);
    const signatures = { ...swap.signatures, swapDigest: digest, permitDigest: undefined } as NonNullable<
      Swap["signatures"]
    >;
    return { swap: { ...swap, signatures }, begun };
  }

  function journal({ life, run }: Begun, swap: Swap, text: string): void {
    const digest = swap.signatures?.swapDigest ?? "0x";
    const intent = { kind: "intend-signature", swapId: swap.id, purpose: "swap", digest, typedData: text } as const;
    life.store.writeRecord(run, { ...intent, validUntilSeconds: 1 }, 1);
  }

  test("signs exactly what is journaled, and the same again after a kill", async () => {
    const { swap, begun } = await cleared();
    journal(begun, swap, JSON.stringify(typedData));
    const first = await signGasless(begun.context, begun.run, swap);
    expect(first).toMatchObject({ kind: "signed-gasless", permitSignature: undefined });
    expect(await signGasless(begun.context, begun.run, swap)).toEqual(first);
  });

  test("refuses typed data that does not have its digest: a row was changed by somebody else", async () => {
    const { swap, begun } = await cleared();
    journal(begun, swap, JSON.stringify({ ...typedData, message: { a: "2" } }));
    await expect(signGasless(begun.context, begun.run, swap)).rejects.toThrow("does not have the digest");
    expect(begun.outside.signed).toEqual([]);
  });

  test("signs nothing that is not journaled", async () => {
    const { swap, begun } = await cleared();
    await expect(signGasless(begun.context, begun.run, swap)).rejects.toThrow("no journaled typed data");
    const unsigned = { ...swap, signatures: undefined };
    await expect(signGasless(begun.context, begun.run, unsigned)).rejects.toThrow("without an intent");
    expect(begun.outside.signed).toEqual([]);
  });

  test("signs nothing for a run that makes no new trade since it was cleared", async () => {
    const { swap, begun } = await cleared();
    journal(begun, swap, JSON.stringify(typedData));
    begun.life.store.barOpenRuns();
    expect(await signGasless(begun.context, begun.run, swap)).toMatchObject({
      ...{ kind: "signing-barred", detail: expect.stringMatching(/^another database/) },
    });
    expect(begun.outside.signed).toEqual([]);
  });

  test.each(["global", "weekly"])(
    "asks the mode again: a halt of %s since the swap was cleared holds",
    async (scope) => {
      const { swap, begun } = await cleared();
      journal(begun, swap, JSON.stringify(typedData));
      begun.life.store.setMode({ scope, mode: "halted", setBy: "ops", reason: "dry run", atMs: 1 });
      expect(await signGasless(begun.context, begun.run, swap)).toEqual({
        ...{ kind: "signing-barred", swapId: swap.id, detail: "halted by ops: dry run" },
      });
      expect(begun.outside.signed).toEqual([]);
    },
  );
});

describe("handing over", () => {
  const swap = swapIn("signed", owned);

  test("sends what was journaled, once", async () => {
    const { context, outside, run } = await begin(swap);
    outside.service.delivery = "lost";
    expect(await submitGasless(context, run, swap, 0)).toMatchObject({ kind: "submission-unknown" });
    expect(outside.service.submissions).toEqual([
      {
        ...{ quoteId: "quote_1", swapSignature: hash("51"), permitSignature: hash("52") },
        permitDeadlineSeconds: seconds + 60,
      },
    ]);
  });

  test.each([
    [true, 1],
    [false, 0],
  ])(
    "begun before, it is sent again only to a service that is idempotent (%s)",
    async (idempotentExecuteSwap, sent) => {
      const { context, outside, run } = await begin(swap);
      outside.service.delivery = "lost";
      outside.service.profile = { ...swapdProfile, idempotentExecuteSwap };
      expect(await submitGasless(context, run, swap, 1)).toMatchObject({ kind: "submission-unknown" });
      expect(outside.service.submissions).toHaveLength(sent);
    },
  );

  test.each([
    ["this machine's clock says so", 58_999, 0, 1],
    ["this machine's clock says so", 59_000, 0, 0],
    ["the chain's clock says so, though ours is late", 59_000, -50_000, 0],
  ])("is left out when it is too near to its deadline: %s", async (_name, chainMs, clockMs, sent) => {
    const { context, outside, run } = await begin(swap);
    outside.service.delivery = "lost";
    outside.clock.jumpTo(seconds * 1_000 + chainMs);
    outside.chain.mine();
    outside.clock.jumpTo(seconds * 1_000 + chainMs + clockMs);
    await submitGasless(context, run, swap, 0);
    expect(outside.service.submissions).toHaveLength(sent);
  });

  test("waits while the chain's time is not known, until it is too near to its deadline", async () => {
    const { context, outside, run, life } = await begin(swap);
    outside.chain.isDown = true;
    expect(await submitGasless(context, run, swap, 0)).toEqual({ kind: "unsent" });
    outside.clock.jumpTo(seconds * 1_000 + 59_000);
    const late = { kind: "held-back", detail: expect.stringContaining("too near to its deadline"), isUnsent: true };
    expect(await submitGasless(context, run, swap, 0)).toMatchObject(late);
    outside.clock.jumpTo(seconds * 1_000);
    halt(life);
    expect(await submitGasless(context, run, swap, 0), "nothing to wait for").toMatchObject({ kind: "held-back" });
    expect(outside.service.submissions).toEqual([]);
  });

  test("is left out while the daemon is halted: a signature that exists is kept back", async () => {
    const { context, outside, run, life } = await begin(swap);
    halt(life);
    expect(await submitGasless(context, run, swap, 0)).toMatchObject({
      ...{ kind: "held-back", detail: "not submitted: halted by ops: dry run" },
    });
    expect(outside.service.submissions).toEqual([]);
  });

  test.each([
    ["the node", "not submitted: halted by ops: dry run", (life: Life) => halt(life)],
    ["the node", "not submitted: another database", (life: Life) => life.store.barOpenRuns()],
    ["the rate limit", "not submitted: halted by ops: dry run", (life: Life) => halt(life)],
    [
      "the rate limit",
      "too near to its deadline",
      (_: Life, { clock }: Outside) => clock.jumpTo((seconds + 60) * 1_000),
    ],
  ])("is left out when the wait for %s brought a reason: %s", async (where, detail, happens) => {
    const { context, outside, run, life } = await begin(swap);
    const { service, chain } = outside;
    const [latest, execute] = [chain.latest.bind(chain), service.executeSwap.bind(service)];
    const happensAtTheNode = where === "the node";
    chain.latest = async () => {
      const head = await latest();
      if (happensAtTheNode) happens(life, outside);
      return head;
    };
    service.executeSwap = async (...call) => {
      if (!happensAtTheNode) happens(life, outside);
      return await execute(...call);
    };
    const answer = await submitGasless(context, run, swap, 0);
    expect(answer).toMatchObject({ kind: "held-back", detail: expect.stringContaining(detail) });
    expect(service.submissions).toEqual([]);
  });

  test.each([
    [0, true],
    [1, false],
  ])(
    "that is left out says that nothing was ever sent only where none was begun before: %i",
    async (before, isUnsent) => {
      const { context, run, life } = await begin(swap);
      halt(life);
      expect(await submitGasless(context, run, swap, before)).toMatchObject({ kind: "held-back", isUnsent });
    },
  );

  test("of something unsigned is a broken invariant", async () => {
    const { context, run } = await begin(swap);
    await expect(submitGasless(context, run, swapIn("cleared", owned), 0)).rejects.toThrow("submitted unsigned");
  });
});

describe("looking at the chain", () => {
  const swap = swapIn("submitted", owned);
  const order = {
    ...{ owner: ACCOUNT, recipient: ACCOUNT, fromAsset: USDC.address, toAsset: WETH.address, nonce: 7n },
    ...{ deadline: BigInt(seconds + 60), amountOut: 9n, amountOutMin: 1n, gross: HUNDRED_USDC, swapFee: 0n },
  };

  test("finds the fill by the contract's own event, whatever the service says", async () => {
    const { context, outside } = await begin(swap);
    outside.chain.submitOrder(order, HUNDRED_USDC);
    outside.chain.mine();
    const answer = await readChain(context, swap);
    expect(answer).toMatchObject({ kind: "observed", observation: { fill: { succeeded: true, blockNumber: 101 } } });
    expect(outside.service.asked).toEqual([]);
  });

  test("does not take another swap's fill of the same wallet for its own", async () => {
    const { context, outside } = await begin(swap);
    outside.chain.submitOrder({ ...order, nonce: 8n }, HUNDRED_USDC);
    outside.chain.mine();
    expect(await readChain(context, swap)).toMatchObject({ observation: { fill: undefined, nonceUsed: false } });
  });

  test("does not call a swap cancelled whose nonce is used while its fill is hidden", async () => {
    const { context, outside } = await begin(swap);
    outside.chain.submitOrder(order, HUNDRED_USDC);
    for (let block = 0; block < 6; block += 1) outside.chain.mine();
    outside.chain.hidesLogs = true;
    expect(await readChain(context, swap)).toMatchObject({ observation: { fill: undefined, nonceUsed: undefined } });
    outside.chain.hidesLogs = false;
    expect(await readChain(context, swap)).toMatchObject({ observation: { fill: { blockNumber: 101 } } });
  });

  test("waits for another answer where a node has none of a nonce, as one that has no code there yet", async () => {
    const { context, outside } = await begin(swap);
    const call = outside.chain.call.bind(outside.chain);
    outside.chain.call = async () => "0x";
    expect(await readChain(context, swap)).toEqual({
      ...{ kind: "observation-unavailable", swapId: swap.id },
      detail: "isNonceUsed answered 0x, which is no boolean: check the RPC endpoint",
    });
    outside.chain.call = call;
    expect(await readChain(context, swap)).toMatchObject({ observation: { nonceUsed: false } });
  });

  test.each([true, false])(
    "takes a fill back with its block alone, not for a node that hides it (with a nonce: %s)",
    async (hasNonce) => {
      const { context, outside } = await begin(swap);
      if (!hasNonce) outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
      outside.chain.submitOrder(order, HUNDRED_USDC);
      outside.chain.mine();
      const seen = await readChain(context, swap);
      if (seen.kind !== "observed" || seen.observation.fill === undefined) throw new Error("no fill was seen");
      const { hash: filledBy, ...fill } = seen.observation.fill;
      const confirmed: Swap = {
        ...swapIn("confirmed", owned),
        fill: { ...swapIn("confirmed").fill, ...fill, hash: filledBy } as Swap["fill"],
      };
      // No node keeps the balance of before the fill, so that it says nothing of it.
      const { balance } = outside.chain;
      outside.chain.balance = async (token, owner, block) => {
        if (block !== undefined && block < 101) throw new ChainReadError("refused", "this node keeps no state so old");
        return await balance.call(outside.chain, token, owner, block);
      };
      outside.clock.jumpTo((seconds + 600) * 1_000);
      for (let block = 0; block < 6; block += 1) outside.chain.mine();
      outside.chain.hidesLogs = true;
      expect(await readChain(context, confirmed)).toMatchObject({ observation: { fill: { hash: filledBy } } });
      outside.chain.hidesReceipts = true;
      expect(await readChain(context, confirmed)).toMatchObject({
        kind: "observation-unavailable",
        detail: expect.stringContaining("block 101, in which the swap was filled, stands"),
      });
      [outside.chain.hidesLogs, outside.chain.hidesReceipts] = [false, false];
      outside.chain.reorganise(7);
      for (let block = 0; block < 8; block += 1) outside.chain.mine();
      expect(await readChain(context, confirmed)).toMatchObject({ kind: "observed" });
    },
  );

  test.each([true, false])(
    "takes no fill back for a node that is behind its block: one above the tip is unknown (with a nonce: %s)",
    async (hasNonce) => {
      const { context, outside } = await begin(swap);
      const { chain } = outside;
      if (!hasNonce) outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
      const behind = await chain.latest();
      chain.submitOrder(order, HUNDRED_USDC);
      chain.mine();
      const block = await chain.latest();
      const confirmed = swapIn("confirmed", owned);
      const filled = { ...confirmed, fill: { ...confirmed.fill, blockNumber: 101, blockHash: block.hash } } as Swap;
      const [latest, blockOf] = [chain.latest.bind(chain), chain.block.bind(chain)];
      chain.latest = async () => behind;
      expect(await readChain(context, filled)).toMatchObject({
        kind: "observation-unavailable",
        detail: expect.stringContaining("block 101, in which the swap was filled, stands"),
      });
      chain.block = async (number) => (number > behind.number ? undefined : await blockOf(number));
      expect(await readChain(context, filled)).toMatchObject({
        kind: "observation-unavailable",
        detail: expect.stringContaining("block 101, in which the swap was filled, is not shown"),
      });
      [chain.latest, chain.block] = [latest, blockOf];
      expect(await readChain(context, filled)).toMatchObject({ kind: "observed", observation: { fill: {} } });
    },
  );

  test.each([true, false])("does not overlook a fill whose receipt is hidden (with a nonce: %s)", async (hasNonce) => {
    const { context, outside } = await begin(swap);
    if (!hasNonce) outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
    outside.chain.submitOrder(order, HUNDRED_USDC);
    outside.chain.mine();
    outside.chain.hidesReceipts = true;
    expect(await readChain(context, swap)).toMatchObject({
      kind: "observation-unavailable",
      detail: expect.stringContaining("whose event is seen"),
    });
  });

  test.each([true, false])(
    "takes no fill from a receipt of another block than its event's (with a nonce: %s)",
    async (hasNonce) => {
      const { context, outside } = await begin(swap);
      if (!hasNonce) outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
      outside.chain.submitOrder(order, HUNDRED_USDC);
      outside.chain.mine();
      const receipt = outside.chain.receipt.bind(outside.chain);
      outside.chain.receipt = async (asked) => {
        const found = await receipt(asked);
        return found && { ...found, blockNumber: found.blockNumber + 1_000_000 };
      };
      expect(await readChain(context, swap)).toMatchObject({
        kind: "observation-unavailable",
        detail: expect.stringContaining("its event is in block 101"),
      });
    },
  );

  test("says that a nonce was cancelled only when a finalised block has its event", async () => {
    const { context, outside } = await begin(swap);
    outside.chain.mine();
    outside.chain.cancelNonce(ACCOUNT, 7n);
    expect(await readChain(context, swap)).toMatchObject({ observation: { nonceUsed: undefined } });
    for (let block = 0; block < 4; block += 1) outside.chain.mine();
    expect(await readChain(context, swap)).toMatchObject({ observation: { nonceUsed: true } });
  });

  test("of a signature without a nonce: any outflow that is not another swap's is the fill", async () => {
    const { context, outside, life } = await begin(swap);
    outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
    expect(await readChain(context, swap)).toMatchObject({
      observation: { fill: undefined, nonceUsed: undefined, allowance: 0n, serviceStatus: "pending" },
    });
    outside.chain.submitOrder(order, HUNDRED_USDC + 5n);
    outside.chain.mine();
    const seen = await readChain(context, swap);
    expect(seen).toMatchObject({ observation: { fill: { blockNumber: 101 }, serviceStatus: undefined } });
    const fillHash = seen.kind === "observed" ? seen.observation.fill?.hash : undefined;
    const other = swapIn("confirmed", { ...owned, id: "other" });
    addSwap(life.store, { ...other, fill: { ...other.fill, hash: fillHash } as NonNullable<Swap["fill"]> });
    expect(await readChain(context, swap)).toMatchObject({ observation: { fill: undefined } });
  });

  test.each([
    ["of another wallet", { wallet: RELAYER }],
    ["of another token of the wallet", { sell: WETH, buy: USDC }],
  ])("of a signature without a nonce: a transaction may fill it beside the order %s", async (_what, change) => {
    const { context, outside, life } = await begin(swap);
    outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
    outside.chain.submitOrder(order, HUNDRED_USDC);
    outside.chain.mine();
    const seen = await readChain(context, swap);
    const fillHash = seen.kind === "observed" ? seen.observation.fill?.hash : undefined;
    const other = swapIn("confirmed", { ...owned, id: "other", ...change });
    addSwap(life.store, { ...other, fill: { ...other.fill, hash: fillHash } as NonNullable<Swap["fill"]> });
    expect(await readChain(context, swap)).toMatchObject({ observation: { fill: { hash: fillHash } } });
  });

  describe("of a signature without a nonce: what its transaction brought the recipient for another swap of ours", () => {
    const own = { ...order, amountOut: (swap.terms?.amountOutMin ?? 0n) + 7n };
    const elses = 5n * 10n ** 18n;
    const other = { ...owned, id: "other", wallet: RELAYER };

    async function boughtBeside(...others: readonly Swap[]): Promise<unknown> {
      const { context, outside, life } = await begin(swap);
      outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
      outside.chain.submitOrder(own, HUNDRED_USDC);
      outside.chain.mine();
      const seen = await readChain(context, swap);
      const fill = seen.kind === "observed" ? seen.observation.fill : undefined;
      for (const another of others)
        addSwap(life.store, {
          ...another,
          ...(another.fill && { fill: { ...another.fill, hash: fill?.hash ?? "0x" } }),
        });
      const paid = transferLog({ token: WETH.address, from: ROUTER, to: ACCOUNT, amount: elses });
      const sold = transferLog({ token: USDC.address, from: RELAYER, to: ROUTER, amount: HUNDRED_USDC });
      const receipt = outside.chain.receipt.bind(outside.chain);
      outside.chain.receipt = async (asked) => {
        const one = await receipt(asked);
        const place = { transactionHash: asked, blockNumber: 101, logIndex: 9 };
        return one && { ...one, logs: [...one.logs, { ...sold, ...place }, { ...paid, ...place }] };
      };
      const now = await readChain(context, swap);
      if (now.kind !== "observed" || now.observation.fill === undefined) return now;
      const native = { wrapped: context.settings.wrappedNative, value: 0n };
      return measureFill(now.observation.fill, swap, native).bought;
    }

    test.each(["confirmed", "submitted"] as const)("that is %s is not counted", async (state) => {
      expect(await boughtBeside(swapIn(state, other))).toBe(own.amountOut);
    });

    test("that is the next one of what is known to be filled there is nothing of it", async () => {
      const next = swapIn("submitted", { ...other, id: "next" });
      expect(await boughtBeside(swapIn("confirmed", other), next)).toBe(own.amountOut);
    });

    test("that is the next one of what is filled there for another side is nothing of it", async () => {
      const filled = swapIn("confirmed", { ...other, buy: WBTC, recipient: RELAYER });
      const next = swapIn("submitted", { ...other, id: "next" });
      expect(await boughtBeside(filled, next)).toBe(own.amountOut + elses);
    });

    test.each([
      ["of another recipient", { recipient: RELAYER }],
      ["that sold nothing in it", { wallet: ROUTER }],
      [
        "of its own wallet and token, signed since: a transaction takes a token for one swap alone",
        { wallet: ACCOUNT },
      ],
      ["that was signed after it", { terms: { ...swap.terms, fromBlock: 1_000 } as Swap["terms"] }],
    ])("counts where there is none, but an open one %s", async (_what, change) => {
      expect(await boughtBeside(swapIn("submitted", { ...other, ...change }))).toBe(own.amountOut + elses);
    });
  });

  describe("of a signature without a nonce: what is not what the order signed is not its fill", () => {
    const takeAway = (outside: Outside, to: typeof ROUTER, amount: bigint): void => {
      outside.chain.mine();
      outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to, amount });
    };
    async function without() {
      const begun = await begin(swap);
      begun.outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
      return begun;
    }

    test.each([
      ["nothing, which anybody can write", 0n, undefined],
      ["less than the gross amount, which nobody explains", HUNDRED_USDC - 1n, true],
    ])("a transfer of %s", async (_name, amount, isUnexplained) => {
      const { context, outside } = await without();
      takeAway(outside, RELAYER, amount);
      const seen = await readChain(context, swap);
      expect(seen).toMatchObject({ kind: "observed", observation: { fill: undefined } });
      expect(seen.kind === "observed" && seen.observation.isUnexplained).toBe(isUnexplained);
      outside.chain.submitOrder({ ...order, nonce: 8n }, HUNDRED_USDC);
      outside.chain.mine();
      const filled = await readChain(context, swap);
      expect(filled).toMatchObject({ observation: { fill: { blockNumber: 102 } } });
      expect(filled).not.toHaveProperty("observation.isUnexplained");
    });

    test.each([
      ["is none, unless", RELAYER, undefined],
      ["is one where", ROUTER, { blockNumber: 101 }],
    ])("what the wallet's own key sends away %s the contract wrote of it", async (_is, writer, fill) => {
      const { context, outside } = await without();
      takeAway(outside, RELAYER, HUNDRED_USDC);
      const receipt = outside.chain.receipt.bind(outside.chain);
      outside.chain.receipt = async (asked) => {
        const found = await receipt(asked);
        const written = { address: writer, topics: [], data: "0x", logIndex: 9 } as const;
        return found && { ...found, from: ACCOUNT, logs: [...found.logs, written] };
      };
      const seen = await readChain(context, swap);
      expect(seen).toMatchObject({ kind: "observed", observation: { fill } });
      expect(seen.kind === "observed" && seen.observation.isUnexplained).toBe(fill === undefined ? true : undefined);
    });

    test.each([
      ["in the last second of its time is", 60, { blockNumber: 101 }],
      ["after its deadline is not", 61, undefined],
    ])("what took enough %s", async (_when, afterSeconds, fill) => {
      const { context, outside } = await without();
      outside.clock.jumpTo((seconds + afterSeconds) * 1_000);
      takeAway(outside, ROUTER, HUNDRED_USDC);
      const seen = await readChain(context, swap);
      expect(seen).toMatchObject({ kind: "observed", observation: { fill } });
      expect(seen.kind === "observed" && seen.observation.isUnexplained).toBe(fill === undefined ? true : undefined);
    });

    test("what was taken for its fill after its deadline is taken back: it is not looked up for ever", async () => {
      const { context, outside } = await without();
      outside.clock.jumpTo((seconds + 61) * 1_000);
      takeAway(outside, ROUTER, HUNDRED_USDC);
      const [log] = await outside.chain.logs({ address: USDC.address, topics: [], fromBlock: 101, toBlock: 101 });
      const block = await outside.chain.block(101);
      const fill = {
        hash: log?.transactionHash,
        blockNumber: 101,
        blockHash: block?.hash,
        blockTimeSeconds: undefined,
      };
      const mined = swapIn("mined", { ...owned, id: swap.id });
      const seen = await readChain(context, {
        ...mined,
        fill: { ...mined.fill, ...fill } as NonNullable<Swap["fill"]>,
      });
      expect(seen).toMatchObject({ kind: "observed", observation: { fill: undefined, isUnexplained: true } });
    });

    test("while no node has the block of what took enough, nothing is known of it: it is looked up again", async () => {
      const { context, outside } = await without();
      takeAway(outside, ROUTER, HUNDRED_USDC);
      const block = outside.chain.block.bind(outside.chain);
      outside.chain.block = async (number) => (number === 101 ? undefined : block(number));
      expect(await readChain(context, swap)).toMatchObject({
        kind: "observation-unavailable",
        detail: expect.stringContaining("block 101"),
      });
      outside.chain.block = block;
      expect(await readChain(context, swap)).toMatchObject({ observation: { fill: { blockNumber: 101 } } });
    });

    test("once it is accepted it holds no end back", async () => {
      const { context, outside, life } = await without();
      takeAway(outside, RELAYER, 5n);
      const [log] = await outside.chain.logs({ address: USDC.address, topics: [], fromBlock: 1, toBlock: 999 });
      const key = `outflow ${ACCOUNT} ${log?.transactionHash} ${USDC.address} #0`;
      const found = {
        key,
        wallet: ACCOUNT,
        token: USDC.address,
        kind: "outflow",
        scope: "token",
        text: "",
        facts: {},
      } as const;
      life.store.addDifference(found, { ms: 1, sinceBoot: { id: "boot", ms: 1 } });
      const [difference] = life.store.openDifferences();
      life.store.settleDifference(difference?.id ?? 0, { by: "ops", atMs: 2 });
      expect(await readChain(context, swap)).not.toHaveProperty("observation.isUnexplained");
    });

    test("a part that goes straight to the pinned contract is: a token that keeps a fee reports less", async () => {
      const { context, outside } = await without();
      takeAway(outside, ROUTER, 5n);
      expect(await readChain(context, swap)).toMatchObject({ observation: { fill: { blockNumber: 101 } } });
    });

    test("of several that took enough the one that shows the whole exchange is", async () => {
      const { context, outside } = await without();
      takeAway(outside, RELAYER, HUNDRED_USDC);
      expect(await readChain(context, swap)).toMatchObject({ observation: { fill: { blockNumber: 101 } } });
      const whole = { ...order, amountOut: swap.terms?.amountOutMin ?? 0n, nonce: 8n };
      outside.chain.submitOrder(whole, HUNDRED_USDC);
      outside.chain.mine();
      expect(await readChain(context, swap)).toMatchObject({ observation: { fill: { blockNumber: 102 } } });
    });
  });

  describe("of a signature without a nonce, when its time is over and no outflow is seen", () => {
    // Its fill is looked for from above the finalised block on, which is the first one of this chain.
    const nameless = { ...swap, terms: { ...swap.terms, fromBlock: 101 } } as Swap;

    async function over(): Promise<
      Begun & { check(): Promise<unknown>; known(balance: bigint, block?: number): void }
    > {
      const begun = await begin(nameless);
      const { outside, life, context } = begun;
      outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
      const baseline = { block: 100, transactionCount: 0 };
      const known = (balance: bigint, block = 100): void =>
        life.store.saveKnownChain(
          { wallet: ACCOUNT, block, transactionCount: 0, balances: new Map([[USDC.address, balance]]), baseline },
          1,
        );
      const check = async () => {
        outside.clock.jumpTo((seconds + 600) * 1_000);
        for (let block = 0; block < 6; block += 1) outside.chain.mine();
        return await readChain(context, nameless);
      };
      return { ...begun, check, known };
    }
    const held = (outside: Outside) => outside.chain.balance(USDC.address, ACCOUNT);

    /** Nodes keep no balances of so old a block. @returns what ends it */
    function forgetBefore({ chain }: Outside, oldest: number): () => void {
      const { balance } = chain;
      chain.balance = async (token, owner, block) => {
        if (block !== undefined && block < oldest) throw new ChainReadError("refused", "no state so old is kept here");
        return await balance.call(chain, token, owner, block);
      };
      return () => {
        chain.balance = balance;
      };
    }

    test("a balance that fell shows that a node hides it: nothing is freed until it is seen", async () => {
      const { outside, known, check } = await over();
      known(await held(outside));
      outside.chain.submitOrder(order, HUNDRED_USDC);
      outside.chain.mine();
      outside.chain.hidesLogs = true;
      expect(await check()).toMatchObject({
        kind: "observation-unavailable",
        detail: expect.stringContaining("hides transfers"),
      });
      outside.chain.hidesLogs = false;
      expect(await check()).toMatchObject({ kind: "observed", observation: { fill: { succeeded: true } } });
    });

    test("an outflow that is kept back only while the fill is looked for does not pass for explained", async () => {
      const { outside, known, check } = await over();
      known(await held(outside), 99);
      outside.chain.submitOrder(order, HUNDRED_USDC);
      outside.chain.mine();
      const logs = outside.chain.logs.bind(outside.chain);
      // The balance is checked from the block after the known one on, and what was hidden is there by then.
      outside.chain.logs = async (filter) => (filter.fromBlock === 100 ? logs(filter) : []);
      expect(await check()).toMatchObject({
        kind: "observation-unavailable",
        detail: expect.stringContaining("kept that back"),
      });
      outside.chain.logs = logs;
      expect(await check()).toMatchObject({ kind: "observed", observation: { fill: { succeeded: true } } });
    });

    test("it may end where the balance is what the logs explain, or where nobody knows the balance before", async () => {
      const { outside, known, check } = await over();
      const unfilled = { kind: "observed", observation: { fill: undefined } };
      expect(await check()).toMatchObject(unfilled);
      known(await held(outside));
      expect(await check()).toMatchObject(unfilled);
    });

    test.each<[string, number | undefined]>([
      ["was checked since", 102],
      ["was never checked", undefined],
    ])(
      "a balance that fell since it was signed shows that a node hides it, where the wallet %s",
      async (_what, block) => {
        const { outside, known, check } = await over();
        outside.chain.submitOrder(order, HUNDRED_USDC);
        outside.chain.mine();
        outside.chain.mine();
        if (block !== undefined) known(await held(outside), block);
        outside.chain.hidesLogs = true;
        const hidden = { kind: "observation-unavailable", detail: expect.stringContaining("since block 100") };
        expect(await check()).toMatchObject(hidden);
        // What was known later is all that is left where no node keeps that any more.
        forgetBefore(outside, 101);
        expect(await check()).toMatchObject({ kind: "observed", observation: { fill: undefined } });
      },
    );

    test("it may end where one node's false balance was remembered, and waits where nobody knows better any more", async () => {
      const { outside, known, check } = await over();
      known((await held(outside)) + 1n);
      const keepAll = forgetBefore(outside, 101);
      expect(await check()).toMatchObject({ kind: "observation-unavailable" });
      keepAll();
      expect(await check()).toMatchObject({ kind: "observed", observation: { fill: undefined } });
    });

    test("it may end where the node refuses logs that are so old", async () => {
      const { outside, known, check } = await over();
      known(await held(outside));
      outside.chain.mine();
      outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: RELAYER, amount: 1n });
      outside.chain.hidesLogs = true;
      expect(await check()).toMatchObject({ kind: "observation-unavailable" });
      const logs = outside.chain.logs.bind(outside.chain);
      outside.chain.logs = async (filter) => {
        if (filter.topics.length > 2) throw new ChainReadError("refused", "too far back");
        return await logs(filter);
      };
      expect(await check()).toMatchObject({ kind: "observed", observation: { fill: undefined } });
    });
  });

  test("does not end a swap by a finalised block beyond those that were looked through", async () => {
    const { context, outside } = await begin(swap);
    const behind = await outside.chain.latest();
    outside.chain.submitOrder(order, HUNDRED_USDC);
    for (let block = 0; block < 6; block += 1) {
      outside.clock.jumpTo(seconds * 1_000 + block * 30_000);
      outside.chain.mine();
    }
    const { chain } = outside;
    expect((await chain.finalized()).number).toBeGreaterThan(behind.number);
    chain.latest = async () => behind;
    const seen = { number: behind.number, timestampSeconds: behind.timestamp };
    expect(await readChain(context, swap)).toMatchObject({
      observation: { fill: undefined, latest: seen, finalized: seen },
    });
  });

  test("that does not answer proves nothing", async () => {
    const { context, outside } = await begin(swap);
    outside.chain.isDown = true;
    expect(await readChain(context, swap)).toEqual({
      ...{ kind: "observation-unavailable", swapId: swap.id, detail: "no node answered" },
    });
  });

  test("for a swap that was never bound is a broken invariant", async () => {
    const { context } = await begin(swap);
    await expect(readChain(context, swapIn("quoted", owned))).rejects.toThrow("looked up before it was bound");
  });
});

describe("the route of a swap", () => {
  test("and the service's own record are kept as they come, and their absence is no trouble", async () => {
    const swap = swapIn("signed", { ...owned, quote: { ...swapIn("quoted", owned).quote, id: "gone" } as never });
    const { context, run } = await begin(swap);
    const effect = { kind: "FetchRoute", swapId: swap.id, what: "route" } as const;
    const nothing = { kind: "route-read", swapId: swap.id, distributions: undefined, serviceRecord: undefined };
    expect(await performEffect(context, run, { effect, before: 0 })).toEqual(nothing);
    const record = { ...effect, what: "record" } as const;
    expect(await performEffect(context, run, { effect: record, before: 0 })).toEqual({
      ...nothing,
      serviceRecord: '{"quoteId":"gone"}',
    });
  });
});

test("effects of a swap that the run does not have are a broken invariant", async () => {
  const { context, run } = await begin(swapIn("submitted", owned));
  const effect = { kind: "ReadChain", swapId: "run_1.9.1" } as const;
  await expect(performEffect(context, run, { effect, before: 0 })).rejects.toThrow("has no swap run_1.9.1");
  expect(context.settings.contracts).toEqual(oneContract(ROUTER));
});
