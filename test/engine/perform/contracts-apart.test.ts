import { expect, test } from "vitest";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import type { SwapContracts } from "../../../src/domain/guard/swap-contracts.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { ClearanceReading } from "../../../src/domain/run/events.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { fetchQuote } from "../../../src/engine/perform/fetch-quote.ts";
import { readChain } from "../../../src/engine/perform/read-chain.ts";
import { readFacts } from "../../../src/engine/perform/read-facts.ts";
import { prepare } from "../../../src/engine/prepare.ts";
import { scanAllowances } from "../../../src/engine/reconcile/allowances.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { evidenceSample, NOW_MS, policySample, ROUTER, runSample, USDC, WETH } from "../../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife } from "../../support/engine-life.ts";
import { ERC20 } from "../../support/fake-ledger.ts";
import { decodedFor, hash, observationSample, quoteSample, readingFor, swapIn } from "../../support/reading-samples.ts";

// What is approved, what is called and what keeps the record of orders are three contracts.

const APART: SwapContracts = {
  spender: toAddress(`0x${"a1".repeat(20)}`),
  target: toAddress(`0x${"a2".repeat(20)}`),
  verifyingContract: toAddress(`0x${"a3".repeat(20)}`),
};
const policy = policySample({ recipients: [ACCOUNT], spenders: Object.values(APART) });
const owned = { wallet: ACCOUNT, recipient: ACCOUNT };

interface Asked {
  readonly allowancesFor: Set<Address>;
  readonly calls: Set<Address>;
  readonly logsOf: Set<Address>;
  /** whom a simulation calls besides the token */
  readonly tried: Set<Address>;
}

/** A life under these contracts, and whom it asks the chain about. */
function begin(): { outside: Outside; life: Life; asked: Asked } {
  const outside = createOutside(NOW_MS);
  const { service, chain } = outside;
  // The fake service knows one contract: what it says is read as of it, and the guard has tests of its own.
  const asOfOne = { chainId: 31_337, contracts: { ...APART, verifyingContract: ROUTER }, wrappedNative: WETH.address };
  service.profile = {
    ...swapdProfile,
    decodeTypedData: (typedData) => swapdProfile.decodeTypedData(typedData, asOfOne),
  };
  const asked: Asked = { allowancesFor: new Set(), calls: new Set(), logsOf: new Set(), tried: new Set() };
  const { allowance, call, logs } = chain;
  chain.allowance = (grant, block) => {
    asked.allowancesFor.add(grant.spender);
    return allowance.call(chain, grant, block);
  };
  chain.call = (request, block) => {
    asked.calls.add(request.to);
    return call.call(chain, { ...request, to: ROUTER }, block);
  };
  chain.logs = (filter) => {
    for (const address of [filter.address ?? []].flat()) asked.logsOf.add(address);
    return logs.call(chain, filter);
  };
  chain.simulate = async (calls) => {
    for (const { to } of calls) if (to !== USDC.address) asked.tried.add(to);
    const gasUsedByCall = calls.map(() => 1n);
    return { kind: "ok", way: "simulate", gasUsed: 1n, gasUsedByCall, transfers: [], approvals: [] };
  };
  return { outside, life: openLife(outside, { settings: { contracts: APART, policy } }), asked };
}

async function readingOf(life: Life, gasless: boolean): Promise<ClearanceReading> {
  await registerStrategies(life.context);
  const planned = swapIn("planned", { ...owned, gasless: gasless ? "only" : "never" });
  const run = runSample({ swaps: [planned] });
  const asked = {
    kind: "FetchQuote",
    swapId: planned.id,
    amount: String(planned.gross),
    slippagePpm: "5000",
  } as const;
  const quoted = await fetchQuote(life.context, run, { ...asked, gasless });
  if (quoted.kind !== "quoted") throw new Error(`no quote: ${quoted.kind}`);
  const mode = gasless ? "gasless" : "self-executed";
  const answer = await readFacts(life.context, { ...planned, state: "quoted", quote: quoted.quote, mode });
  if (answer.kind !== "facts-read") throw new Error(JSON.stringify(answer));
  return answer.reading;
}

function approvedIn(data: string | undefined): Address {
  return toAddress(String(ERC20.decodeFunctionData("approve", data ?? "0x")[0]).toLowerCase());
}

test("the spender alone is approved, and is asked about", async () => {
  const { life, asked } = begin();
  const { approval } = await readingOf(life, false);
  expect(approvedIn(approval?.data)).toBe(APART.spender);
  expect([...asked.allowancesFor]).toEqual([APART.spender]);
});

test("a permit is for the spender, an order for the contract that checks it, which is asked about its nonce", async () => {
  const { life, asked } = begin();
  const { signing } = await readingOf(life, true);
  expect(JSON.parse(signing?.permit?.typedData ?? "{}").message.spender).toBe(APART.spender);
  expect(JSON.parse(signing?.swap.typedData ?? "{}").domain.verifyingContract).toBe(APART.verifyingContract);
  expect([...asked.calls]).toEqual([APART.verifyingContract]);
  expect([...asked.tried]).toEqual([APART.target]);
});

const signed: Swap = swapIn("submitted", { mode: "gasless", ...owned });
const terms = { ...signed.terms, contracts: APART } as NonNullable<Swap["terms"]>;

test("the fill of an order is looked for where its record is kept, and its leftover is the spender's", async () => {
  const { life, outside, asked } = begin();
  outside.clock.jumpTo(NOW_MS + 600_000);
  for (let block = 0; block < 6; block += 1) outside.chain.mine();
  expect(await readChain(life.context, { ...signed, terms })).toMatchObject({ kind: "observed" });
  expect([[...asked.logsOf], [...asked.calls]]).toEqual([[APART.verifyingContract], [APART.verifyingContract]]);
  outside.service.profile = { ...outside.service.profile, nonceRecord: undefined, signatureHasNonce: false };
  await readChain(life.context, { ...signed, terms });
  expect([...asked.allowancesFor]).toEqual([APART.spender]);
});

test("what is left of a permit is taken back from the spender that the swap was signed for", () => {
  const swap: Swap = { ...signed, terms };
  const past = { number: 170, timestampSeconds: Math.floor(NOW_MS / 1_000) + 61 };
  const observation = observationSample({ finalized: past, latest: past, nonceUsed: undefined, allowance: 1n });
  const evidence = evidenceSample({ service: { contracts: APART, signatureHasNonce: false } });
  const { records } = step(
    runSample({ state: "executing", swaps: [swap] }),
    { kind: "observed", swapId: swap.id, observation },
    evidence,
  );
  const sent = records.flatMap((record) => (record.kind === "transaction" ? record.request : []));
  expect(sent.map(({ to, data }) => [to, approvedIn(data)])).toEqual([[USDC.address, APART.spender]]);
});

test("rights and grants are recorded for the spender, and what an order was bound to with it", () => {
  const bare = swapIn("quoted", { mode: "gasless" });
  const swap: Swap = { ...bare, quote: quoteSample(bare, { targetAddress: APART.target }) };
  const decoding = { ok: true, swap: decodedFor(swap, { contracts: { verifyingContract: APART.verifyingContract } }) };
  const signing = {
    swap: { typedData: JSON.stringify({ domain: { verifyingContract: APART.verifyingContract } }), digest: hash("5a") },
    permit: {
      ...{ typedData: JSON.stringify({ message: { spender: APART.spender } }), digest: hash("5b"), value: 1n },
      deadlineSeconds: 1,
    },
  };
  const reading = readingFor(swap, { decoding, signing } as Partial<ClearanceReading>);
  const evidence = evidenceSample({
    service: { contracts: APART, signatureHasNonce: true },
    policy: policySample({ spenders: Object.values(APART) }),
  });
  const event = { kind: "facts-read", swapId: swap.id, reading } as const;
  const { run, records } = step(runSample({ swaps: [swap] }), event, evidence);
  expect(run.swaps[0]).toMatchObject({ state: "cleared", terms: { contracts: APART } });
  const spenders = records.flatMap((record) =>
    record.kind === "grant" || record.kind === "open-capability" ? [[record.kind, record.spender]] : [],
  );
  expect(spenders).toEqual([
    ["open-capability", APART.spender],
    ["grant", APART.spender],
  ]);
});

test("an allowance that no row granted is looked for at the spender", async () => {
  const { life, asked } = begin();
  await scanAllowances(life.context, await life.context.deps.chain.agreed(), { wallet: ACCOUNT, toBlock: 100 });
  expect([...asked.allowancesFor]).toEqual([APART.spender]);
});

test.each(["spender", "target", "verifyingContract"] as const)(
  "nothing starts while there is no code at the %s",
  async (role) => {
    const { life, outside } = begin();
    for (const [name, address] of Object.entries(APART)) if (name !== role) outside.chain.codes.set(address, "0x60");
    await expect(prepare(life.context)).rejects.toThrow(
      `${APART[role]} on sandbox (chain 31337); correct \`service.${role}\``,
    );
  },
);
