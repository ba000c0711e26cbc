import { describe, expect, test } from "vitest";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import type { DecodedSwap } from "../../../src/domain/guard/decoded-swap.ts";
import { MAX_UINT256 } from "../../../src/domain/money/amount.ts";
import type { ClearanceReading } from "../../../src/domain/run/events.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { gatherEvidence } from "../../../src/engine/gather-evidence.ts";
import type { EffectAnswer } from "../../../src/engine/perform/effect-answer.ts";
import { fetchQuote } from "../../../src/engine/perform/fetch-quote.ts";
import { readFacts } from "../../../src/engine/perform/read-facts.ts";
import { watchedBy } from "../../../src/engine/perform/watched.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import type { CallRequest } from "../../../src/ports/chain.ts";
import { STRANGER } from "../../domain/guard/swap-samples.ts";
import { ETH, HUNDRED_USDC, NOW_MS, priceOf, ROUTER, runSample, USDC, WETH } from "../../support/builders.ts";
import { addSwap } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife } from "../../support/engine-life.ts";
import { ERC20, SETTLEMENT } from "../../support/fake-ledger.ts";
import { refusal } from "../../support/fake-service.ts";
import { swapIn } from "../../support/reading-samples.ts";

/** A swap with a quote of the fake service, of which it can know the transaction or the typed data. */
async function begin(
  gasless: boolean,
  change: Partial<Swap> = {},
  twist: Partial<DecodedSwap> = {},
): Promise<{ outside: Outside; life: Life; swap: Swap }> {
  const outside = createOutside(NOW_MS);
  outside.service.twist = (swap) => ({ ...swap, ...twist });
  const life = openLife(outside);
  await registerStrategies(life.context);
  const planned = swapIn("planned", {
    wallet: ACCOUNT,
    recipient: ACCOUNT,
    gasless: gasless ? "only" : "never",
    ...change,
  });
  const run = runSample({ swaps: [planned] });
  const answer = await fetchQuote(life.context, run, {
    ...{ kind: "FetchQuote", swapId: planned.id, amount: String(planned.gross), gasless, slippagePpm: "5000" },
  });
  if (answer.kind !== "quoted") throw new Error(`no quote: ${answer.kind}`);
  const swap: Swap = { ...planned, state: "quoted", quote: answer.quote, mode: gasless ? "gasless" : "self-executed" };
  return { outside, life, swap };
}

function readingOf(answer: EffectAnswer): ClearanceReading {
  if (answer.kind !== "facts-read") throw new Error(`no reading: ${JSON.stringify(answer)}`);
  return answer.reading;
}

describe("a self-executed swap", () => {
  test("is simulated together with the exact approval that it needs, and measured", async () => {
    const { life, swap } = await begin(false);
    const reading = readingOf(await readFacts(life.context, swap));
    expect(reading).toMatchObject({ allowance: 0n, balance: 1_000_000_000n, simulation: { kind: "ok" } });
    expect(reading.approval).toMatchObject({ to: USDC.address, amount: HUNDRED_USDC });
    expect(ERC20.decodeFunctionData("approve", reading.approval?.data ?? "0x").toArray()).toEqual([
      expect.stringMatching(new RegExp(ROUTER, "i")),
      HUNDRED_USDC,
    ]);
    expect(reading.gasLimit).toBe((100_000n * 3n) / 2n + 20_000n);
    expect(reading.signing).toBeUndefined();
  });

  test.each([
    [40_000n, 120_000n],
    [600_000n, 920_000n],
  ])("gives the approval, which used %d when it was tried out, %d of gas", async (used, limit) => {
    const { life, swap, outside } = await begin(false);
    const simulate = outside.chain.simulate.bind(outside.chain);
    outside.chain.simulate = async (calls, about) => {
      const seen = await simulate(calls, about);
      return seen.kind === "ok" ? { ...seen, gasUsedByCall: [used, 100_000n] } : seen;
    };
    const reading = readingOf(await readFacts(life.context, swap));
    expect([reading.approval?.gasLimit, reading.gasLimit]).toEqual([limit, 170_000n]);
  });

  test("needs no approval when the allowance suffices", async () => {
    const { life, swap, outside } = await begin(false);
    outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, HUNDRED_USDC);
    expect(readingOf(await readFacts(life.context, swap)).approval).toBeUndefined();
  });

  test("is simulated on the block that all is read at, and what is watched comes along", async () => {
    const { life, swap, outside } = await begin(false);
    const simulate = outside.chain.simulate.bind(outside.chain);
    const asked: unknown[] = [];
    outside.chain.simulate = async (calls, about) => {
      asked.push(about);
      return await simulate(calls, about);
    };
    const { head } = readingOf(await readFacts(life.context, swap));
    expect(asked).toMatchObject([{ on: { number: head.number }, watched: await watchedBy(life.context, swap) }]);
  });

  test("of a token that only approves from zero is reset first", async () => {
    const { life, swap, outside } = await begin(false);
    outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, 7n);
    const simulate = outside.chain.simulate.bind(outside.chain);
    outside.chain.simulate = async (calls) => {
      const amounts = calls.filter(({ to }) => to === USDC.address).map(({ data }) => BigInt(`0x${data.slice(74)}`));
      return amounts[0] === 0n
        ? await simulate(calls)
        : { kind: "reverted", way: "simulate", reason: "approve from non-zero" };
    };
    const reading = readingOf(await readFacts(life.context, swap));
    expect(reading.approval).toMatchObject({ amount: 0n });
    expect(reading.simulation.kind).toBe("ok");
  });

  test("that would revert is a reading too: the guard decides what it means", async () => {
    const { life, swap, outside } = await begin(false);
    outside.chain.ledger.rate = 90n;
    const reading = readingOf(await readFacts(life.context, swap));
    expect(reading).toMatchObject({ simulation: { kind: "reverted", reason: "too little" }, gasLimit: 0n });
  });

  test("of which the calldata is not known is not simulated", async () => {
    const { life, swap, outside } = await begin(false);
    const known = outside.service.transaction.bind(outside.service);
    outside.service.transaction = async (id) => ({ ...(await known(id)), data: "0xdeadbeef" }) as never;
    const reading = readingOf(await readFacts(life.context, swap));
    expect(reading).toMatchObject({ decoding: { ok: false }, simulation: { kind: "unavailable" } });
  });

  test("whose transaction the service refuses for good is refused, not read", async () => {
    const { life, swap, outside } = await begin(false);
    outside.service.transaction = async () => refusal("NO_ROUTE", false);
    expect(await readFacts(life.context, swap)).toEqual({
      ...{ kind: "quote-refused", swapId: swap.id, gasless: false, retryable: false },
      ...{ code: "NO_ROUTE", message: "the service says NO_ROUTE" },
    });
  });

  test("whose transaction the service does not build now waits for it, and the quote is not blamed", async () => {
    const { life, swap, outside } = await begin(false);
    outside.service.transaction = async () => refusal("QUOTE_EXPIRED_AT_SERVICE", true);
    expect(await readFacts(life.context, swap)).toEqual({
      ...{ kind: "facts-unavailable", swapId: swap.id, cause: "service" },
      detail: "QUOTE_EXPIRED_AT_SERVICE: the service says QUOTE_EXPIRED_AT_SERVICE",
    });
  });

  test("of the native token needs no allowance", async () => {
    const { life, swap } = await begin(false, { sell: ETH, buy: USDC, gross: 10n ** 17n });
    expect(readingOf(await readFacts(life.context, swap))).toMatchObject({
      allowance: 10n ** 17n,
      approval: undefined,
    });
  });
});

describe("a gasless swap", () => {
  test("is read again where another swap signed the same permit, also while its facts were read", async () => {
    const { life, swap } = await begin(true);
    const reading = readingOf(await readFacts(life.context, swap));
    if (reading.signing?.permit === undefined) throw new Error("no permit is needed");
    const { digest, typedData } = reading.signing.permit;
    const other = addSwap(life.store, swapIn("final", { id: "run_9.0.1" }));
    const intent = { kind: "intend-signature", swapId: "run_9.0.1", purpose: "permit", digest, typedData } as const;
    life.store.writeRecord(other, { ...intent, validUntilSeconds: 1 }, 1);
    const run = runSample({ swaps: [swap] });
    const event = { kind: "facts-read", swapId: swap.id, reading } as const;
    const { records } = step(run, event, await gatherEvidence(life.context, run, event));
    expect(records).toEqual([expect.objectContaining({ kind: "retry", reason: "wallet_busy" })]);
  });

  test("comes with what would be signed: rebuilt from the decoded fields, and a permit of our own making", async () => {
    const { life, swap } = await begin(true);
    const { signing, simulation, transaction, nonceUsed } = readingOf(await readFacts(life.context, swap));
    expect([simulation.kind, transaction, nonceUsed]).toEqual(["ok", undefined, false]);
    const permit = JSON.parse(signing?.permit?.typedData ?? "{}");
    expect(permit.message).toEqual({
      ...{ owner: ACCOUNT, spender: ROUTER, value: HUNDRED_USDC.toString(), nonce: "0" },
      deadline: String(signing?.permit?.deadlineSeconds),
    });
    const parsed = JSON.parse(signing?.swap.typedData ?? "{}");
    expect(life.context.deps.digest(parsed)).toBe(signing?.swap.digest);
    expect(parsed.message).toMatchObject({ router: ROUTER, recipient: ACCOUNT, fromAsset: USDC.address });
  });

  test("is simulated as the owner's own call, with an exact approval that is only tried, and nothing is signed for it", async () => {
    const { life, swap, outside } = await begin(true);
    const tried: CallRequest[][] = [];
    const simulate = outside.chain.simulate.bind(outside.chain);
    outside.chain.simulate = async (calls) => {
      tried.push([...calls]);
      return simulate(calls);
    };
    const { approval, simulation } = readingOf(await readFacts(life.context, swap));
    expect([approval, simulation.kind]).toEqual([undefined, "ok"]);
    const [[approve, own] = []] = tried;
    expect(approve).toMatchObject({ from: ACCOUNT, to: USDC.address, value: 0n });
    expect(ERC20.decodeFunctionData("approve", approve?.data ?? "0x")[1]).toBe(HUNDRED_USDC);
    expect(own).toMatchObject({ from: ACCOUNT, to: ROUTER, value: 0n });
    const [order] = SETTLEMENT.decodeFunctionData("swap", own?.data ?? "0x");
    // The relayer's fee is no part of the owner's own call, and only a signature has a nonce.
    expect(order.toObject()).toMatchObject({ swapFee: 0n, nonce: 0n, amountIn: HUNDRED_USDC - HUNDRED_USDC / 200n });
    expect(outside.service.submissions).toEqual([]);
  });

  test("that would revert is denied before anything is signed", async () => {
    const { life, swap, outside } = await begin(true);
    outside.chain.ledger.rate = 90n;
    const { simulation } = readingOf(await readFacts(life.context, swap));
    expect(simulation).toEqual({ kind: "reverted", way: "simulate", reason: "too little" });
  });

  test("whose route the service refuses is refused, not signed untried", async () => {
    const { life, swap, outside } = await begin(true);
    outside.service.orderRoute = async () => refusal("QUOTE_GASLESS", false);
    expect(await readFacts(life.context, swap)).toMatchObject({
      ...{ kind: "quote-refused", gasless: true, retryable: false, code: "QUOTE_GASLESS" },
    });
  });

  test("of a service that gives no route says that it was not simulated", async () => {
    const { life, swap, outside } = await begin(true);
    outside.service.profile = { ...swapdProfile, simulationOfOrder: undefined };
    expect(readingOf(await readFacts(life.context, swap)).simulation).toEqual({ kind: "not-applicable" });
  });

  test.each([10n ** 21n, MAX_UINT256])(
    "that says it is good until %d is read and denied, and ends nothing",
    async (deadline) => {
      const { life, swap } = await begin(true, {}, { deadline });
      const reading = readingOf(await readFacts(life.context, swap));
      expect(JSON.parse(reading.signing?.permit?.typedData ?? "{}").message.deadline).toBe(deadline.toString());
      const run = runSample({ swaps: [swap] });
      const event = { kind: "facts-read", swapId: swap.id, reading } as const;
      const { records } = step(run, event, await gatherEvidence(life.context, run, event));
      expect(records).toContainEqual(expect.objectContaining({ kind: "retry", reason: "DEADLINE_OUT_OF_BOUNDS" }));
    },
  );

  test("that says any number is read, and denied where it has to be: it ends nothing", async () => {
    for (const number of [0n, 1n, 2n ** 53n, 2n ** 255n]) {
      const affiliate = { address: STRANGER, fee: number };
      for (const twist of [
        ...[{ deadline: number }, { amountOutMin: number }, { swapFee: number }, { amountIn: number }],
        ...[{ nonce: number }, { affiliate }, { affiliate, amountIn: 0n, swapFee: 0n }],
      ]) {
        const { life, swap } = await begin(true, {}, twist);
        const reading = readingOf(await readFacts(life.context, swap));
        const run = runSample({ swaps: [swap] });
        const event = { kind: "facts-read", swapId: swap.id, reading } as const;
        const { records } = step(run, event, await gatherEvidence(life.context, run, event));
        expect(records).not.toEqual([]);
        life.kill();
      }
    }
  });

  test("needs no permit when the allowance suffices", async () => {
    const { life, swap, outside } = await begin(true);
    outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, HUNDRED_USDC);
    expect(readingOf(await readFacts(life.context, swap)).signing?.permit).toBeUndefined();
  });

  test("of a token without a provable permit says so", async () => {
    const { life, swap } = await begin(true, { sell: WETH, buy: USDC, gross: 10n ** 17n });
    const reading = readingOf(await readFacts(life.context, swap));
    expect(reading.signing?.permit).toBeUndefined();
    expect(reading.permitProblem).toBe("the token proves no EIP-2612 domain");
  });

  test("with a nonce that is used already says so", async () => {
    const { life, swap, outside } = await begin(true);
    outside.chain.ledger.useNonce(ACCOUNT, 1n);
    expect(readingOf(await readFacts(life.context, swap)).nonceUsed).toBe(true);
  });

  test("without typed data, or with other data than the profile knows, comes with nothing to sign", async () => {
    const { life, swap } = await begin(true);
    if (swap.quote?.typedData === undefined) throw new Error("no typed data");
    const other = { ...swap.quote.typedData, primaryType: "Order" };
    for (const typedData of [undefined, other]) {
      const twisted = { ...swap, quote: { ...swap.quote, typedData } };
      const reading = readingOf(await readFacts(life.context, twisted));
      expect([reading.decoding.ok, reading.signing]).toEqual([false, undefined]);
    }
  });
});

describe("nothing is concluded", () => {
  test("while chain and clock disagree about the time, or the chain stands still", async () => {
    const { life, swap, outside } = await begin(false);
    for (const offMs of [31_000, -31_000]) {
      outside.clock.jumpTo(NOW_MS + offMs);
      expect(await readFacts(life.context, swap)).toMatchObject({
        kind: "facts-unavailable",
        detail: expect.stringContaining("more than 30s"),
      });
    }
    outside.clock.jumpTo(NOW_MS + 29_000);
    expect((await readFacts(life.context, swap)).kind).toBe("facts-read");
  });

  test("from a chain that cannot be read", async () => {
    const { life, swap, outside } = await begin(false);
    outside.chain.isDown = true;
    expect(await readFacts(life.context, swap)).toMatchObject({
      kind: "facts-unavailable",
      detail: "no node answered",
    });
  });
});

test("a missing reference price is reported with its reason, and the others are there", async () => {
  const { life, swap } = await begin(false);
  const prices = {
    price: async (token: typeof USDC) =>
      token.symbol === "WETH" ? ({ missing: "stale", detail: "an hour old" } as const) : priceOf(token),
  };
  const context = { ...life.context, deps: { ...life.context.deps, prices } };
  const reading = readingOf(await readFacts(context, swap));
  expect([reading.sellPrice?.source, reading.buyPrice]).toEqual(["feed", undefined]);
  expect(reading.priceFaults).toEqual([
    { token: WETH.address, code: "REFERENCE_MISSING", detail: "stale: an hour old" },
  ]);
});

test("a quote is asked for with everything that the strategy wants of it", async () => {
  const { outside } = await begin(true, { recipient: ROUTER });
  expect(outside.service.requests.at(-1)).toEqual({
    ...{ sell: USDC, buy: WETH, amount: HUNDRED_USDC, slippage: 5_000n, owner: ACCOUNT, recipient: ROUTER },
    ...{ gasless: true, enableRfq: false, affiliate: undefined },
  });
});
