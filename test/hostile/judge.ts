import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import { serviceKind } from "../../src/adapters/swap-service/services.ts";
import { checkSwap } from "../../src/domain/guard/check-swap.ts";
import type { DecodedSwap, Decoding, ProposedTransaction } from "../../src/domain/guard/decoded-swap.ts";
import { buildPermit } from "../../src/domain/guard/permit.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import type { SwapFacts } from "../../src/domain/guard/swap-facts.ts";
import type { TypedData } from "../../src/domain/guard/typed-data.ts";
import { type Hex, parseAddress, toAddress } from "../../src/domain/money/address.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { parseUsd, type ReferencePrice } from "../../src/domain/money/price.ts";
import { Secret } from "../../src/net/secret.ts";
import type { UnsignedTransaction } from "../../src/ports/signer.ts";
import type { Quote } from "../../src/ports/swap-service.ts";
import type { HostileService } from "../support/hostile-service.ts";
import { remembered } from "../support/remembered.ts";
import { silentLogger } from "../support/silent-logger.ts";
import {
  AFFILIATE,
  CHAIN_ID,
  GROSS,
  NOW,
  OWNER,
  OWNER_PRIVATE_KEY,
  type Payloads,
  ROUTER,
  type Scenario,
  SERVICE_WALLET,
  USDC,
  WETH,
} from "./scenario.ts";

/** What came of the answers: nothing was signed, and why; or exactly what was signed. */
export type Judgement =
  | { readonly kind: "denied"; readonly code: string; readonly detail: string }
  | {
      readonly kind: "signed";
      readonly swap: DecodedSwap;
      readonly typedData: readonly { readonly typedData: TypedData; readonly signature: Hex }[];
      readonly transaction:
        | { readonly unsigned: UnsignedTransaction; readonly raw: Hex; readonly hash: Hex }
        | undefined;
    };

const PINNED = {
  chainId: CHAIN_ID,
  contracts: oneContract(ROUTER),
  wrappedNative: WETH,
  signer: toAddress(SERVICE_WALLET.address),
};
const SIGNER = createSigner(new Secret(OWNER_PRIVATE_KEY));

/** Most answers that pass change nothing that is signed, and the same bytes have the same signature. */
const signedOnce = remembered(
  (unsigned: UnsignedTransaction) => SIGNER.signTransaction(unsigned),
  (unsigned) => JSON.stringify(unsigned, (_name, value) => (typeof value === "bigint" ? `${value}` : value)),
);
const OPEN_LIMITER = { acquire: () => Promise.resolve("granted" as const), observe: () => undefined };

/**
 * Takes a service's answers the whole way that a swap takes: client, profile, guard, signer. The simulation is assumed to
 * show an honest swap, so decoding and binding must catch every lie alone.
 */
export async function judge(service: HostileService, scenario: Scenario, payloads: Payloads): Promise<Judgement> {
  service.answer({ "/aggregator/quote": payloads.quote, "/aggregator/transaction": payloads.transaction });
  const { profile, open } = serviceKind(scenario.profile);
  const client = open(
    { chainId: CHAIN_ID, baseUrl: service.url, network: "sandbox", timeoutMs: 5_000, maxBytes: 100_000, retries: 0 },
    { limiter: OPEN_LIMITER, clock: systemClock, logger: silentLogger() },
  );
  const quote = await client.quote({
    sell: { symbol: "USDC", address: USDC, decimals: 6 },
    buy: { symbol: "WETH", address: WETH, decimals: 18 },
    amount: GROSS,
    slippage: toPpm(10_000),
    owner: OWNER,
    recipient: OWNER,
    gasless: scenario.mode === "gasless",
    enableRfq: false,
    affiliate: scenario.affiliate ? { address: AFFILIATE, fee: toPpm(5_000) } : undefined,
  });
  if ("kind" in quote) return { kind: "denied", code: quote.code, detail: quote.message };
  if (scenario.mode === "gasless") {
    const decoding: Decoding =
      quote.typedData === undefined
        ? { ok: false, problem: "the quote has no typed data" }
        : profile.decodeTypedData(quote.typedData, PINNED);
    return conclude(scenario, factsFor(scenario, { quote, decoding, transaction: undefined }));
  }
  const transaction = await client.transaction(quote.id);
  if ("kind" in transaction) return { kind: "denied", code: transaction.code, detail: transaction.message };
  const decoding = profile.decodeTransaction(transaction, PINNED);
  return conclude(scenario, factsFor(scenario, { quote, decoding, transaction }));
}

async function conclude(scenario: Scenario, facts: SwapFacts): Promise<Judgement> {
  const { denial } = checkSwap(facts);
  if (denial !== undefined) return { kind: "denied", code: denial.code, detail: JSON.stringify(denial.fields) };
  if (!facts.decoding.ok) throw new Error("the guard let an unread swap pass");
  const { swap } = facts.decoding;
  if (facts.transaction !== undefined) return signTransaction(swap, facts.transaction);
  const permit = buildPermit(
    { domain: { name: "USD Coin", version: "1", chainId: CHAIN_ID, verifyingContract: USDC }, nonce: 5n },
    { chainId: CHAIN_ID, token: USDC, owner: OWNER, spender: ROUTER, value: GROSS, deadlineSeconds: BigInt(NOW + 120) },
  );
  if (!permit.ok) throw new Error(JSON.stringify(permit.denial));
  const documents = [serviceKind(scenario.profile).profile.typedData(swap, PINNED), permit.typedData];
  const typedData = await Promise.all(
    documents.map(async (each) => ({ typedData: each, signature: await SIGNER.signTypedData(each) })),
  );
  return { kind: "signed", swap, typedData, transaction: undefined };
}

/** Gas and fees are ours; of the proposal only target, data and value are used. */
async function signTransaction(swap: DecodedSwap, proposed: ProposedTransaction): Promise<Judgement> {
  const unsigned: UnsignedTransaction = {
    chainId: CHAIN_ID,
    nonce: 9,
    to: proposed.to,
    data: proposed.data,
    value: proposed.value,
    gasLimit: 250_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  };
  return {
    kind: "signed",
    swap,
    typedData: [],
    transaction: { unsigned, ...(await signedOnce(unsigned)) },
  };
}

function factsFor(
  scenario: Scenario,
  seen: { quote: Quote; decoding: Decoding; transaction: ProposedTransaction | undefined },
): SwapFacts {
  const { quote, decoding, transaction } = seen;
  const gasless = scenario.mode === "gasless";
  return {
    mode: scenario.mode,
    limits: {
      slippage: toPpm(10_000),
      priceImpact: toPpm(10_000),
      maxFee: toPpm(20_000),
      maxFeePerGas: 5_000_000_000n,
      maxTradeUsd: price("500").usd,
      maxPerDayUsd: price("1000").usd,
      maxPerMonthUsd: undefined,
      minTradeUsd: undefined,
      recipients: [OWNER],
      tokens: [USDC, WETH],
      spenders: [ROUTER],
      gasReserve: 10n ** 16n,
      referenceTolerance: toPpm(15_000),
      maxDivergence: toPpm(20_000),
      pegged: [],
      maxDepeg: toPpm(20_000),
      maxRoundTripLoss: undefined,
      acceptsUntriedGasless: false,
      trialWays: ["simulate", "trace"],
    },
    pinned: PINNED,
    owner: OWNER,
    ours: [OWNER],
    recipient: OWNER,
    sell: { symbol: "USDC", address: USDC, decimals: 6 },
    buy: { symbol: "WETH", address: WETH, decimals: 18 },
    nativeSymbol: "ETH",
    floor: undefined,
    gross: GROSS,
    affiliate: scenario.affiliate ? { address: AFFILIATE, fee: toPpm(5_000) } : undefined,
    prices: { sold: price("1"), bought: price("1000"), native: price("1000") },
    ...{ priceFaults: [], secondOutput: undefined, roundTrip: undefined },
    quote,
    decoding,
    transaction,
    signing: gasless && decoding.ok ? namedToSign(scenario, decoding.swap) : undefined,
    signatureHasNonce: serviceKind(scenario.profile).profile.signatureHasNonce,
    nowSeconds: NOW,
    maxLifetimeSeconds: 300,
    gas: gasless ? undefined : { limit: 250_000n, maxFeePerGas: 2_000_000_000n },
    authorisation: gasless ? "permit" : "allowance",
    balances: { sold: GROSS, native: 10n ** 18n },
    allowanceLimit: GROSS,
    spentTodayUsd: 0n,
    spentMonthUsd: 0n,
    simulation: {
      kind: "ok",
      transfers: [
        { token: USDC, from: OWNER, to: ROUTER, amount: GROSS },
        { token: WETH, from: ROUTER, to: OWNER, amount: quote.amountOut },
      ],
      approvals: [],
    },
  };
}

function namedToSign({ profile }: Scenario, swap: DecodedSwap): SwapFacts["signing"] {
  const { domain } = serviceKind(profile).profile.typedData(swap, PINNED);
  return { verifyingContract: parseAddress(domain.verifyingContract), permitSpender: ROUTER };
}

function price(usd: string): ReferencePrice {
  const parsed = parseUsd(usd);
  if (parsed === undefined) throw new Error(`not a price: ${usd}`);
  return { usd: parsed, source: "feed", atSeconds: NOW };
}
