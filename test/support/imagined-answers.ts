import { isNative } from "../../src/domain/money/token.ts";
import type { Effect } from "../../src/domain/run/effects.ts";
import type { ClearanceReading, GaslessObservation, RunEvent } from "../../src/domain/run/events.ts";
import { proceedsBarred } from "../../src/domain/run/proceeds.ts";
import type { Swap } from "../../src/domain/run/run.ts";
import { GWEI, RELAYER, ROUTER } from "./builders.ts";
import type { ImaginedWorld } from "./imagined-world.ts";
import { approvalSample, byteHash, decodedFor, hash, quoteSample, readingFor, receiptFor } from "./reading-samples.ts";

/** One thing that the outside may say; `alongside` is what really happens there with it. */
interface Answer {
  readonly name: string;
  readonly event: RunEvent;
  readonly alongside?: () => void;
}

/** Everything that an effect may be answered with. "well" comes first and leads on. */
export function imaginedAnswers(world: ImaginedWorld, effect: Effect): readonly Answer[] {
  switch (effect.kind) {
    case "ReadView":
      return [
        { name: "well", event: world.view() },
        { name: "unavailable", event: { kind: "view-unavailable", detail: "no node answered" } },
      ];
    case "FetchQuote":
      return quotes(world, effect);
    case "ReadFacts":
      return readings(world, world.swapOf(effect));
    case "SignGasless":
      return signatures(world, world.swapOf(effect));
    case "SubmitGasless":
      return submissions(world, world.swapOf(effect));
    case "ReadChain":
      return observations(world, world.swapOf(effect));
    case "FetchRoute": {
      const event = {
        kind: "route-read",
        swapId: effect.swapId,
        distributions: "[]",
        serviceRecord: undefined,
      } as const;
      return [{ name: "well", event }];
    }
  }
}

function quotes(world: ImaginedWorld, effect: Extract<Effect, { kind: "FetchQuote" }>): readonly Answer[] {
  const { swapId, gasless } = effect;
  const swap = world.swapOf(effect);
  const quote = quoteSample(
    { ...swap, gross: BigInt(effect.amount) },
    { id: `quote_${world.taken.length}`, expiresAtSeconds: world.seconds + 20, receivedAtMs: world.nowMs },
  );
  const refusal = { kind: "quote-refused", swapId, gasless, code: "NO_ROUTE", message: "no pool" } as const;
  return [
    { name: "well", event: { kind: "quoted", swapId, quote, gasless } },
    { name: "passing refusal", event: { ...refusal, retryable: true } },
    { name: "refusal", event: { ...refusal, retryable: false } },
  ];
}

function readings(world: ImaginedWorld, swap: Swap): readonly Answer[] {
  const head = { number: world.block, timestampSeconds: world.seconds, baseFeePerGas: GWEI };
  const decoded = decodedFor(swap, { deadline: BigInt(world.seconds + 60) });
  const approval = needsApproval(world, swap) ? approvalSample(swap) : undefined;
  const decoding = { ok: true, swap: decoded } as const;
  const good: Partial<ClearanceReading> = {
    head,
    fillFrom: world.finalBlock,
    decoding,
    approval,
    ...signingFor(world, swap),
  };
  const read = (name: string, change: Partial<ClearanceReading> = {}): Answer => ({
    name,
    event: { kind: "facts-read", swapId: swap.id, reading: readingFor(swap, { ...good, ...change }) },
  });
  const low = { ok: true, swap: { ...decoded, amountOutMin: (decoded.amountOutMin * 999n) / 1_000n } } as const;
  const theirs = { ok: true, swap: { ...decoded, recipient: RELAYER } } as const;
  const refusal = { kind: "quote-refused", swapId: swap.id, gasless: false, code: "GONE", message: "expired" } as const;
  return [
    read("well"),
    read("another recipient", { decoding: theirs }),
    read("too little guaranteed", { decoding: low }),
    read("gas too dear", { priorityFee: 10n * GWEI }),
    read("no reference", { buyPrice: undefined }),
    ...(swap.mode === "gasless"
      ? [read("no permit", { signing: { swap: { typedData: orderText(0), digest: hash("5c") }, permit: undefined } })]
      : [{ name: "no transaction", event: { ...refusal, retryable: world.nowMs % 2_000 < 1_000 } }]),
    {
      name: "unavailable",
      event: { kind: "facts-unavailable", cause: "node", swapId: swap.id, detail: "no node answered" },
    },
  ];
}

/** As much of an order's typed data as the guard looks at. */
function orderText(step: number): string {
  return JSON.stringify({ domain: { verifyingContract: ROUTER }, step });
}

function needsApproval(world: ImaginedWorld, swap: Swap): boolean {
  if (world.setting.isApproved) return false;
  return swap.mode === "self-executed" && !isNative(swap.sell) && !world.lane.isApproved(swap.sell.address);
}

/** The permit of a quarter of the swaps outlives the swap itself. */
function signingFor(world: ImaginedWorld, swap: Swap): Partial<ClearanceReading> {
  if (swap.mode !== "gasless") return {};
  const step = world.taken.length;
  const permit = {
    ...{
      typedData: JSON.stringify({ message: { spender: ROUTER }, step }),
      digest: byteHash(2 * step + 1),
      value: swap.gross ?? 0n,
    },
    deadlineSeconds: world.seconds + (step % 4 === 0 ? 90 : 60),
  };
  return { signing: { swap: { typedData: orderText(step), digest: byteHash(2 * step) }, permit } };
}

function signatures(world: ImaginedWorld, swap: Swap): readonly Answer[] {
  const barred = { kind: "signing-barred", swapId: swap.id, detail: "halted by ops" } as const;
  if (world.isBarred || proceedsBarred(world.run, swap) !== undefined) return [{ name: "well", event: barred }];
  const signed = { kind: "signed-gasless", swapId: swap.id, swapSignature: hash("51") } as const;
  const permitSignature = swap.signatures?.permitDigest === undefined ? undefined : hash("52");
  return [{ name: "well", event: { ...signed, permitSignature } }];
}

function submissions(world: ImaginedWorld, swap: Swap): readonly Answer[] {
  const take = (taken: boolean) => () => {
    world.handed.set(swap.id, { taken, landed: undefined, cancelledIn: undefined });
  };
  const unknown = { kind: "submission-unknown", swapId: swap.id, detail: "timeout" } as const;
  return [
    {
      name: "well",
      event: { kind: "submission-accepted", swapId: swap.id, serviceSwapId: "s1" },
      alongside: take(true),
    },
    { name: "the answer is lost, the service has it", event: unknown, alongside: take(true) },
    { name: "it never arrives", event: unknown, alongside: take(false) },
  ];
}

/** What the chain shows is never anything but the truth; only what it does not show yet is chosen. */
function observations(world: ImaginedWorld, swap: Swap): readonly Answer[] {
  const handed = world.handed.get(swap.id);
  const finalized = { number: world.finalBlock, timestampSeconds: world.timestampOf(world.finalBlock) };
  const { landed, cancelledIn } = handed ?? {};
  const fill =
    landed === undefined
      ? undefined
      : receiptFor(swap, { hash: landed.hash, blockNumber: landed.block, blockHash: byteHash(landed.block) });
  const hasNonce = world.setting.signatureHasNonce;
  const isUsed = cancelledIn !== undefined && cancelledIn <= world.finalBlock;
  const observation: GaslessObservation = {
    latest: { number: world.block, timestampSeconds: world.timestampOf(world.block) },
    finalized,
    fill,
    nonceUsed: !hasNonce || (cancelledIn !== undefined && !isUsed) ? undefined : isUsed,
    allowance: 0n,
    serviceStatus: hasNonce ? undefined : fill === undefined ? "expired" : "success",
  };
  const seen = (change: Partial<GaslessObservation>): RunEvent => ({
    ...{ kind: "observed", swapId: swap.id },
    observation: { ...observation, ...change },
  });
  const withheld = { ...(hasNonce ? { nonceUsed: undefined } : { allowance: 1n, serviceStatus: "pending" }) };
  return [
    { name: "nothing new", event: seen({}) },
    { name: "unavailable", event: { kind: "observation-unavailable", swapId: swap.id, detail: "no node answered" } },
    ...(fill === undefined ? [{ name: "not known yet", event: seen(withheld) }] : []),
  ];
}
