import type { Address } from "../../src/domain/money/address.ts";
import type { TransactionChange } from "../../src/domain/run/events.ts";
import type { FillReceipt } from "../../src/domain/run/measure-fill.ts";
import { proceedsBarred } from "../../src/domain/run/proceeds.ts";
import type { TransactionRequest } from "../../src/domain/run/records.ts";
import { swapOf } from "../../src/domain/run/run.ts";
import type { Choice, ImaginedWorld } from "./imagined-world.ts";
import { byteHash, receiptFor } from "./reading-samples.ts";

type IntentState = "planned" | "signed" | "broadcast" | "mined" | "confirmed" | "final" | "dropped";

interface Intent {
  readonly request: TransactionRequest;
  state: IntentState;
  block: number;
  receipt: FillReceipt | undefined;
}

/** One account's transactions as a lane would report them: in order, one in flight, everything provisional until final. */
export interface ImaginedLane {
  submit(request: TransactionRequest): void;
  choices(): readonly Choice[];
  isIdle(): boolean;
  isApproved(token: Address): boolean;
  /** requests that were submitted, oldest first */
  readonly requests: readonly TransactionRequest[];
  /** transactions that are finally in the chain and did not revert */
  landed(): readonly TransactionRequest[];
}

export function createImaginedLane(world: ImaginedWorld): ImaginedLane {
  const intents: Intent[] = [];
  const report = (intent: Intent, state: IntentState, change: TransactionChange): void => {
    intent.state = state;
    const { id } = intent.request;
    world.apply({ kind: "transaction", swapId: id.slice(0, id.lastIndexOf(".")), intentId: id, change });
  };
  return {
    submit: (request) => {
      if (intents.some((other) => other.request.id === request.id)) throw new Error(`${request.id} came twice`);
      intents.push({ request, state: "planned", block: 0, receipt: undefined });
    },
    choices: () => intents.flatMap((intent) => choicesOf(world, { intent, intents }, report)),
    isIdle: () => intents.every(({ state }) => state === "final" || state === "dropped"),
    isApproved: (token) =>
      intents.some(
        ({ request, state, receipt }) =>
          request.purpose === "approve" &&
          request.to === token &&
          receipt?.succeeded === true &&
          ["mined", "confirmed", "final"].includes(state),
      ),
    get requests() {
      return intents.map(({ request }) => request);
    },
    landed: () =>
      intents.flatMap(({ request, state, receipt }) =>
        state === "final" && receipt?.succeeded === true ? [request] : [],
      ),
  };
}

type Report = (intent: Intent, state: IntentState, change: TransactionChange) => void;

function choicesOf(
  world: ImaginedWorld,
  { intent, intents }: { intent: Intent; intents: readonly Intent[] },
  report: Report,
): readonly Choice[] {
  const choice = (name: string, happen: () => void): Choice => ({ name: `${intent.request.id}: ${name}`, happen });
  const hash = byteHash(intents.indexOf(intent) + 1_000_000);
  const mine = (succeeded: boolean) => () => {
    intent.block = world.block;
    intent.receipt = receiptOf(world, intent, { hash, succeeded });
    report(intent, "mined", { kind: "mined", receipt: intent.receipt, value: intent.request.value });
  };
  const reorg = choice("reorg", () => {
    intent.receipt = undefined;
    report(intent, "broadcast", { kind: "reorged" });
  });
  const isNext = intents.every((other) => other === intent || !["signed", "broadcast", "mined"].includes(other.state));
  switch (intent.state) {
    case "planned": {
      const first = intents.find(({ state }) => state === "planned");
      if (first !== intent || !isNext) return [];
      const { signBySeconds } = intent.request;
      const sign = choice("well", () => report(intent, "signed", { kind: "signed", hash }));
      const tooLate = choice(world.seconds > signBySeconds ? "well" : "too late", () => {
        world.nowMs = Math.max(world.nowMs, (signBySeconds + 1) * 1_000);
        report(intent, "dropped", { kind: "dropped", reason: "the base fee stayed above the cap" });
      });
      if (world.seconds > signBySeconds) return [tooLate];
      return isBarred(world, intent) ? [] : [sign, tooLate];
    }
    case "signed":
      return [
        choice("well", () => report(intent, "broadcast", { kind: "broadcast", hash })),
        choice("mined", mine(true)),
      ];
    case "broadcast":
      return [
        choice("well", mine(true)),
        choice("reverts", mine(false)),
        choice("again", () => report(intent, "broadcast", { kind: "broadcast", hash })),
        choice("cancelled", () => report(intent, "final", { kind: "final", outcome: "cancelled" })),
      ];
    case "mined":
      if (world.block < intent.block + 1) return [reorg];
      return [
        choice("well", () => {
          report(intent, "confirmed", { kind: "confirmed", succeeded: intent.receipt?.succeeded === true });
        }),
        reorg,
      ];
    case "confirmed": {
      if (world.finalBlock < intent.block) return [reorg];
      const outcome = intent.receipt?.succeeded === true ? "succeeded" : "reverted";
      return [choice("well", () => report(intent, "final", { kind: "final", outcome }))];
    }
    case "final":
    case "dropped":
      return [];
  }
}

/** As the daemon answers its lane. */
function isBarred({ run }: ImaginedWorld, { request: { id, purpose } }: Intent): boolean {
  return purpose !== "revoke" && proceedsBarred(run, swapOf(run, id.slice(0, id.lastIndexOf(".")))) !== undefined;
}

function receiptOf(
  world: ImaginedWorld,
  intent: Intent,
  seen: { hash: `0x${string}`; succeeded: boolean },
): FillReceipt {
  const { id, purpose } = intent.request;
  const swap = swapOf(world.run, id.slice(0, id.lastIndexOf(".")));
  const logs = seen.succeeded && purpose === "swap" ? {} : { logs: [] };
  return receiptFor(swap, { ...seen, ...logs, blockNumber: world.block, blockHash: byteHash(world.block) });
}
