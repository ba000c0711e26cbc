import { randomBytes, randomUUID } from "node:crypto";
import type { Head } from "../../chain/at-block/head.ts";
import { addressWord, callData } from "../../chain/at-block/words.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { mulDivUp } from "../../domain/money/amount.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { isSettled, type NetworkOptions, spendersOf } from "../options.ts";
import type { Pool } from "../pools/pool.ts";
import { SELECTOR } from "../pools/selectors.ts";
import type { Snapshot, Snapshots } from "../pools/snapshots.ts";
import type { FeePrices } from "../relayer/fee-prices.ts";
import type { PlaceRequest, Sender } from "../relayer/places.ts";
import type { RelayerState } from "../relayer/relayer-state.ts";
import type { Router } from "../routing/router.ts";
import { grossAmount, type SwapOrder, type WireTypedData } from "../settlement/order.ts";
import type { WirePermitDomain } from "../settlement/permit.ts";
import { type PermitSupport, permitTypedData } from "../settlement/permit.ts";
import type { TimeLimit } from "../time-limit.ts";
import type { TransferChecks } from "../tokens/transfer-checks.ts";
import { readAccountFacts } from "./account-facts.ts";
import { checkReceivers, checkRequest } from "./checks.ts";
import { type Priced, priceRequest } from "./pricing.ts";
import { ONE, type Quote, type QuoteRequest } from "./quote.ts";
import type { Tokens } from "./tokens.ts";

/** What a gasless quote needs to know of the relayer. */
export interface RelayerStatus extends Pick<RelayerState, "feeCap"> {
  readonly address: Address;
  /** what swap fees are worth, and in which tokens they are taken */
  readonly fees: FeePrices;
  /** what its transactions pay per gas if they are mined next */
  gasPrice(head: Head): bigint;
  /** Why it would take no swap like this now from any caller, before anything is known of its cost. @throws RpcError */
  refusal(place: PlaceRequest | undefined, newest: Head): Promise<Refusal | undefined>;
}

export interface QuoterOptions {
  readonly network: NetworkOptions;
  readonly quoteLifetimeSeconds: number;
  readonly permitLifetimeSeconds: number;
}

export interface QuoterDependencies {
  readonly snapshots: Snapshots;
  readonly router: Router;
  readonly tokens: Tokens;
  readonly transfers: TransferChecks;
  readonly clock: Clock;
  /** undefined: no gasless swaps */
  readonly relayer: RelayerStatus | undefined;
  /** the settlement's executor, known from the first snapshot on */
  readonly executor: () => Address | undefined;
  /** whether the executor computes the pool's address, and lets the pool pay the recipient */
  readonly isComputed: (pool: Pool) => boolean;
}

export interface Quoter {
  /**
   * @param sender who asks, and would hand a gasless swap over
   * @param limit until when routes are searched; the best so far is taken then
   * @throws SearchStoppedError when none was found by then, or too many others search; RpcError
   */
  quote(request: QuoteRequest, sender: Sender, limit: TimeLimit): Promise<Quote | Refusal>;
}

/** For what gasless swap a place is asked; undefined while its owner is not known. */
function placeOf({ owner, to: toToken }: QuoteRequest, sender: Sender): PlaceRequest | undefined {
  return owner === undefined ? undefined : { owner, toToken, sender };
}

/** What the owner has to sign with the order, if anything. */
type Allowance = { kind: "enough" } | { kind: "permit"; domain: WirePermitDomain; nonce: bigint; spender: Address };

/** What a quote is priced by. */
interface Terms {
  readonly snapshot: Snapshot;
  readonly gasPrice: bigint;
  readonly limit: TimeLimit;
}

/** Wei per gas that whoever sends the swap pays. */
function gasPriceOf(
  { gasless }: QuoteRequest,
  { head }: Snapshot,
  { relayer }: Pick<QuoterDependencies, "relayer">,
): bigint {
  return (gasless ? relayer?.gasPrice(head) : undefined) ?? head.gasPrice;
}

export function createQuoter(options: QuoterOptions, dependencies: QuoterDependencies): Quoter {
  const { network } = options;
  const { tokens } = dependencies;

  async function allowanceFor(request: QuoteRequest, sender: Sender, snapshot: Snapshot): Promise<Allowance | Refusal> {
    if (!request.gasless) return { kind: "enough" };
    const { relayer } = dependencies;
    if (relayer === undefined || !isSettled(network))
      return refuse("GASLESS_UNAVAILABLE", { parameter: "gasless", detail: "no relayer runs" });
    const refused =
      relayer.fees.refusal(request.from) ?? (await relayer.refusal(placeOf(request, sender), snapshot.head));
    if (refused !== undefined) return refused;
    const support = await tokens.permitSupport(request.from);
    const { owner } = request;
    if (owner !== undefined) return ownersAllowance({ ...request, owner }, network.settlement, { support, snapshot });
    return support.kind === "eip-2612" ? { kind: "enough" } : withoutPermit(support.kind);
  }

  async function price(
    request: QuoteRequest,
    allowance: Allowance,
    { snapshot, gasPrice, limit }: Terms,
  ): Promise<Priced | Refusal> {
    const { router, relayer, transfers } = dependencies;
    const { wrappedNative } = network;
    const checking = inexactToken(request, { transfers, wrappedNative }, snapshot);
    const [inexact, priced] = await Promise.all([
      checking,
      priceRequest(request, {
        router,
        fees: relayer?.fees,
        snapshot,
        gasPrice,
        network,
        limit,
        isComputed: dependencies.isComputed,
        hasPermit: allowance.kind === "permit" || (request.gasless && request.owner === undefined),
        accountFacts: () =>
          readAccountFacts(request, { spenders: spendersOf(network), relayer: relayer?.address }, snapshot),
        extraGas: () => checking.then(() => transfers.extraGas),
      }),
    ]);
    return inexact ?? priced;
  }

  return {
    async quote(request, sender, limit) {
      const refusal = checkRequest(request, network);
      if (refusal !== undefined) return refusal;
      const snapshot = await dependencies.snapshots.current();
      const forbidden = checkReceivers(request, network, dependencies.executor());
      if (forbidden !== undefined) return forbidden;
      const unknown = await unknownToken(request, tokens, snapshot);
      if (unknown !== undefined) return unknown;
      const allowance = await allowanceFor(request, sender, snapshot);
      if (allowance.kind === "refused") return allowance;
      const gasPrice = gasPriceOf(request, snapshot, dependencies);
      const priced = await price(request, allowance, { snapshot, gasPrice, limit });
      if (priced.kind === "refused") return priced;
      const { relayer } = dependencies;
      const cap = request.gasless ? relayer?.feeCap({ ...priced, gasPrice }, placeOf(request, sender)) : undefined;
      if (typeof cap === "object") return { ...cap, parameter: "gasless" };
      return assemble({ request, priced, snapshot, allowance }, options, dependencies);
    },
  };
}

/** What the owner's allowance and its nonce leave to be signed. */
async function ownersAllowance(
  { owner, from, amount }: QuoteRequest & { readonly owner: Address },
  settlement: Address,
  { support, snapshot }: { readonly support: PermitSupport; readonly snapshot: Snapshot },
): Promise<Allowance | Refusal> {
  const [allowance, nonce] = await Promise.all([
    snapshot.readKept(from, callData(SELECTOR.allowance, addressWord(owner), addressWord(settlement)), 1),
    snapshot.readKept(from, callData(SELECTOR.nonces, addressWord(owner)), 1),
  ]);
  if ((allowance?.[0] ?? 0n) >= amount) return { kind: "enough" };
  if (support.kind !== "eip-2612" || nonce === undefined) return withoutPermit(support.kind);
  return { kind: "permit", domain: support.domain, nonce: nonce[0] ?? 0n, spender: settlement };
}

/**
 * Which of the two tokens does not move the requested amounts. Checked together with the pools, so that nothing waits
 * for it.
 */
async function inexactToken(
  request: QuoteRequest,
  { transfers, wrappedNative }: { transfers: QuoterDependencies["transfers"]; wrappedNative: Address },
  snapshot: Snapshot,
): Promise<Refusal | undefined> {
  const tokens = [request.from, request.to].map((token) => (token === NATIVE_TOKEN ? wrappedNative : token));
  const verdicts = await Promise.all(tokens.map((token) => transfers.verdict(token, tokens, snapshot)));
  for (const [index, parameter] of ["fromTokenAddress", "toTokenAddress"].entries()) {
    const verdict = verdicts[index];
    if (verdict?.kind === "inexact") return refuse(verdict.error, { parameter, detail: verdict.detail });
  }
  return undefined;
}

async function unknownToken(request: QuoteRequest, tokens: Tokens, snapshot: Snapshot): Promise<Refusal | undefined> {
  const [from, to] = await Promise.all([
    tokens.isToken(request.from, snapshot.read),
    tokens.isToken(request.to, snapshot.read),
  ]);
  if (!from) return refuse("FROM_TOKEN_UNKNOWN", { parameter: "fromTokenAddress" });
  return to ? undefined : refuse("TO_TOKEN_UNKNOWN", { parameter: "toTokenAddress" });
}

function withoutPermit(kind: PermitSupport["kind"]): Refusal {
  const errors = { "dai-style": "GASLESS_DAI_PERMIT", "other-domain": "GASLESS_PERMIT_DOMAIN" } as const;
  const error = kind === "dai-style" || kind === "other-domain" ? errors[kind] : "GASLESS_NO_PERMIT";
  return refuse(error, { parameter: "fromTokenAddress" });
}

function assemble(
  parts: { request: QuoteRequest; priced: Priced; snapshot: Snapshot; allowance: Allowance },
  options: QuoterOptions,
  { clock, relayer }: QuoterDependencies,
): Quote {
  const { request, priced, snapshot } = parts;
  const { head } = snapshot;
  const nowMs = clock.nowMs();
  const nowSeconds = Math.floor(nowMs / 1000);
  // The contract compares deadlines with the chain's clock, which may be ahead of ours.
  const deadline = BigInt(Math.max(nowSeconds, head.timestamp) + options.permitLifetimeSeconds);
  const { amountOut } = priced.route;
  const order: SwapOrder = {
    recipient: request.recipient ?? request.owner ?? NATIVE_TOKEN,
    fromAsset: request.from,
    toAsset: request.to,
    deadline,
    // A minimum of zero would protect nothing, and the contract refuses it.
    amountOutMin: mulDivUp(amountOut, ONE - request.slippage, ONE),
    swapFee: priced.swapFee,
    amountIn: priced.amountIn,
    nonce: request.gasless ? BigInt(`0x${randomBytes(32).toString("hex")}`) : 0n,
    affiliate: priced.affiliateFee > 0n ? (request.affiliate?.address ?? NATIVE_TOKEN) : NATIVE_TOKEN,
    affiliateFee: priced.affiliateFee,
  };
  return {
    id: randomUUID(),
    createdAtMs: nowMs,
    expiresAtSeconds: nowSeconds + options.quoteLifetimeSeconds,
    blockNumber: head.number,
    gasless: request.gasless,
    owner: request.owner,
    sender: request.gasless ? relayer?.address : request.owner,
    router: priced.route.router,
    order,
    amountOut,
    legs: priced.route.hops,
    gasLimit: priced.gasLimit,
    gasRefund: priced.gasRefund,
    gasCost: priced.gasCost,
    priceImpactPpm: priced.priceImpactPpm,
    permit: permitOf(request, order, parts.allowance),
  };
}

function permitOf({ owner }: QuoteRequest, order: SwapOrder, allowance: Allowance): WireTypedData | undefined {
  if (owner === undefined || allowance.kind === "enough") return undefined;
  const { nonce, domain, spender } = allowance;
  return permitTypedData(domain, { owner, spender, value: grossAmount(order), nonce, deadline: order.deadline });
}
