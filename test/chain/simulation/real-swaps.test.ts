import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { id } from "ethers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import { readRoute } from "../../../src/adapters/swap-service/wire/read-answers.ts";
import { createChain } from "../../../src/chain/chain.ts";
import { checkSimulation, type SimulationBounds } from "../../../src/domain/guard/simulation.ts";
import { SIMULATION_METHODS, type SimulationMethod } from "../../../src/domain/guard/simulation-method.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { CallRequest, Chain, SimulationOutcome } from "../../../src/ports/chain.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../../service/support/chain.ts";
import { type Client, createClient } from "../../service/support/client.ts";
import { gaslessQuote, newSeller } from "../../service/support/gasless.ts";
import { deployMarket, type Market, serviceOptions } from "../../service/support/market.ts";
import { quoteAtHead } from "../../service/support/quoted-swap.ts";
import { createRecordingLogger } from "../../service/support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../../service/support/relayer.ts";
import { systemClock } from "../../service/support/system-clock.ts";

const TOKEN = loadContract("PermitToken").abi;

let chain: TestChain;
let market: Market;
let service: Service;
let client: Client;
let trying: Readonly<Record<SimulationMethod, Chain>>;
const directory = mkdtempSync(join(tmpdir(), "swapd-tried-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  const relayer = relayerParts(chain, id("relayer"));
  await chain.rpc.call("anvil_setBalance", [relayer.signer.address, "0x8ac7230489e80000"]);
  const database = join(directory, "service.db");
  const options = serviceOptions(chain, market, { database, network: { relayer: RELAYER_SETTINGS } });
  const relayers = new Map([["testnet", relayer]]);
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock, relayers });
  client = await createClient(service.url);
  const one = (way: SimulationMethod) =>
    createChain({ rpcUrls: [new Secret(chain.url)], chainId: 31_337, trialWays: [way] }, { clock: systemClock });
  trying = { simulate: one("simulate"), trace: one("trace"), probe: one("probe") };
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

const approve = (from: Address, to: Address, amount: bigint): CallRequest => {
  const data = TOKEN.encodeFunctionData("approve", [market.settlement, amount]) as Hex;
  return { from, to, data, value: 0n };
};

interface Swap {
  readonly calls: readonly CallRequest[];
  readonly owner: Address;
  readonly sold: Address;
  readonly bought: Address;
  readonly gross: bigint;
  readonly minimum: bigint;
}

async function outcomesOf({ calls, owner, sold, bought }: Swap): Promise<Record<SimulationMethod, SimulationOutcome>> {
  const tokens = [market.weth, market.usdc, market.dai, market.usdt, sold, bought].filter(
    (one) => one !== NATIVE_TOKEN,
  );
  const watched = { accounts: [owner], tokens, spenders: [market.settlement] };
  const outcomes = await Promise.all(SIMULATION_METHODS.map((way) => trying[way].simulate(calls, { watched })));
  return Object.fromEntries(SIMULATION_METHODS.map((way, index) => [way, outcomes[index]])) as Record<
    SimulationMethod,
    SimulationOutcome
  >;
}

function verdictOf(outcome: SimulationOutcome, swap: Swap, change: Partial<SimulationBounds> = {}) {
  const { owner, sold, bought, gross, minimum } = swap;
  return checkSimulation(outcome, {
    ...{ ours: [owner], owner, recipient: owner, sold, bought, gross, minimum, allowanceLimit: gross },
    tokens: { sold: { symbol: "SOLD", decimals: 0 }, bought: { symbol: "BGHT", decimals: 0 } },
    ...{ spender: market.settlement, ways: SIMULATION_METHODS, ...change },
  })?.code;
}

const E18 = 10n ** 18n;
const PAIRS: readonly [string, (market: Market) => [sold: Address, amount: bigint, bought: Address]][] = [
  ["V3 and V2 pools of one pair, out of dollars", ({ usdc, weth }) => [usdc, 3_000_000_000n, weth]],
  ["so much that it is split", ({ usdc, weth }) => [usdc, 90_000_000_000n, weth]],
  ["V3 and V2 pools of one pair, into dollars", ({ weth, usdc }) => [weth, E18, usdc]],
  ["a V2 pool, a token with Dai's permit", ({ dai, weth }) => [dai, 300n * E18, weth]],
  ["two hops", ({ dai, usdt }) => [dai, 300n * E18, usdt]],
  ["a token that answers nothing to a transfer", ({ usdt, weth }) => [usdt, 30_000_000n, weth]],
  ["coins in", ({ usdc }) => [NATIVE_TOKEN, E18, usdc]],
  ["coins out", ({ usdc }) => [usdc, 3_000_000_000n, NATIVE_TOKEN]],
  ["coins in, two hops", ({ usdt }) => [NATIVE_TOKEN, E18 / 10n, usdt]],
];

describe("a swap through real pools is judged alike, whichever way it is simulated:", () => {
  test.each(PAIRS)("%s", async (_name, pair) => {
    const owner = chain.deployer;
    const [sold, gross, bought] = pair(market);
    const { transaction } = await quoteAtHead(
      { chain, client },
      {
        ...{ network: "testnet", fromTokenAddress: sold, toTokenAddress: bought, sellAmount: String(gross) },
        ...{ slippage: "0.01", fromAddress: owner, gasless: "false" },
      },
    );
    const { to, data } = transaction;
    const call: CallRequest = { from: owner, to, data, value: BigInt(transaction.value) };
    // What is allowed already has to be taken back first of a token that approves from zero only.
    const reset = sold === market.usdt ? [approve(owner, sold, 0n)] : [];
    const calls = sold === NATIVE_TOKEN ? [call] : [...reset, approve(owner, sold, gross), call];
    const minimum = BigInt(transaction.amountOutMin ?? transaction.buyAmountMin ?? 1);
    const swap: Swap = { calls, owner, sold, bought, gross, minimum };
    const outcomes = await outcomesOf(swap);
    const { simulate, trace, probe } = outcomes;
    if (simulate.kind !== "ok" || trace.kind !== "ok" || probe.kind !== "ok") throw new Error(JSON.stringify(outcomes));
    const got = probe.transfers.find(({ token, to: receiver }) => token === bought && receiver === owner)?.amount ?? 0n;
    expect(got).toBeGreaterThan(0n);
    const short = { ...swap, minimum: got + 1n };
    for (const way of SIMULATION_METHODS) {
      expect(verdictOf(outcomes[way], { ...swap, minimum: got })).toBeUndefined();
      expect(verdictOf(outcomes[way], short)).toBe("SIMULATION_MISMATCH");
      expect(verdictOf(outcomes[way], swap, { gross: gross - 1n, allowanceLimit: gross })).toBe("SIMULATION_MISMATCH");
      expect(verdictOf(outcomes[way], swap, { recipient: market.executor })).toBe("SIMULATION_MISMATCH");
    }
    expect(trace.gasUsedByCall).toEqual(simulate.gasUsedByCall);
    const sorted = (all: readonly object[]) => all.map((one) => Object.values(one).join(" ")).sort();
    expect(sorted(trace.transfers)).toEqual(sorted(simulate.transfers));
    expect(sorted(trace.approvals)).toEqual(sorted(simulate.approvals));
    // The probe's gas is no less than what the transaction uses, and more by what is paid back at the end, at most a fifth
    // of the whole (EIP-3529), and by what it has looked at before.
    for (const [index, gas] of simulate.gasUsedByCall.entries()) {
      const probed = probe.gasUsedByCall[index] ?? 0n;
      expect(probed).toBeGreaterThanOrEqual(gas);
      expect(probed).toBeLessThan((gas * 5n) / 4n + 80_000n);
    }
  });
});

test("a gasless order is simulated as its owner's own call in every way, and no signature is needed for it", async () => {
  const seller = await newSeller(chain, market);
  const { body: quote } = await gaslessQuote(client, market, seller);
  const { body } = await client.get("/aggregator/transaction", { quoteId: quote.id });
  const route = readRoute(body);
  const pinned = { chainId: body.chainId, contracts: oneContract(market.settlement), wrappedNative: market.weth };
  const decoded = swapdProfile.decodeTypedData(quote.typedData, pinned);
  if ("problem" in route || !decoded.ok) throw new Error(`not read: ${JSON.stringify([route, decoded])}`);
  const gross = BigInt(quote.sellAmount);
  const data = swapdProfile.simulationOfOrder?.(decoded.swap, route) ?? "0x";
  const owner = seller.address;
  const calls = [approve(owner, market.usdc, gross), { from: owner, to: market.settlement, data, value: 0n }];
  const swap: Swap = {
    ...{ calls, owner, sold: market.usdc, bought: market.weth, gross },
    minimum: BigInt(quote.amountOut),
  };
  const outcomes = await outcomesOf(swap);
  for (const way of SIMULATION_METHODS) {
    expect(outcomes[way].kind).toBe("ok");
    expect(verdictOf(outcomes[way], swap)).toBeUndefined();
    expect(verdictOf(outcomes[way], { ...swap, minimum: swap.minimum + 1n })).toBe("SIMULATION_MISMATCH");
  }
});
