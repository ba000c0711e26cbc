import type { Policy } from "../guard/policy.ts";
import type { Address } from "../money/address.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import type { StrategyMemory } from "../strategy/strategy.ts";
import { createDraft, type StepResult } from "./draft.ts";
import type { RunEvent } from "./events.ts";
import type { Run } from "./run.ts";
import { stepFacts } from "./step-clear.ts";
import { stepStarted, stepViewRead, stepViewUnavailable } from "./step-decide.ts";
import { concludeRun } from "./step-end.ts";
import { stepGaslessSigned, stepObservation, stepSubmission } from "./step-gasless.ts";
import { stepQuoted, stepQuoteRefused } from "./step-quote.ts";
import { stepTransaction } from "./step-transaction.ts";

/**
 * Facts that runs share, read in the transaction that commits the step, and the settings a step works under.
 * Amounts in smallest units, dollars scaled by 1e18.
 */
export interface StepFacts {
  readonly nowMs: number;
  readonly spec: StrategySpec;
  /** the strategy's memory as it is stored now */
  readonly memory: StrategyMemory;
  readonly policy: Policy;
  /** every wallet of ours */
  readonly ours: readonly Address[];
  /** false: everything up to signing, then stop */
  readonly live: boolean;
  /** why nothing may be signed now, undefined when signing is allowed */
  readonly signingBarred: string | undefined;
  /** another swap, approval or revocation of this wallet and token is open */
  isTokenBusy(wallet: Address, token: Address, exceptSwapId: string): boolean;
  /** dollars sold by all strategies in the last day: spent and reserved, without this swap */
  spentTodayUsd(exceptSwapId: string): bigint;
  /** amounts reserved by other open swaps of the wallet */
  reservedByOthers(wallet: Address, token: Address, exceptSwapId: string): bigint;
  readonly service: {
    readonly router: Address;
    readonly signatureHasNonce: boolean;
  };
  readonly chain: {
    readonly chainId: number;
    readonly wrappedNative: Address;
    readonly confirmations: number;
  };
  readonly pace: {
    /** first wait before a refused or failed question is asked again; grows with each */
    readonly retryMs: number;
    /** how often an open gasless swap is looked up on the chain */
    readonly watchMs: number;
    /** longest life of a signature that is accepted, seconds */
    readonly maxLifetimeSeconds: number;
    /** nothing is handed over when its deadline is nearer than this, seconds */
    readonly submitMarginSeconds: number;
  };
}

/**
 * The core: the state of one run with its swaps, an event, and shared facts give the next state with everything to
 * commit. Pure: the same input gives the same answer, so it can be replayed and simulated.
 * @throws InvalidTransition when the event cannot happen in this state: a broken invariant
 */
export function step(run: Run, event: RunEvent, facts: StepFacts): StepResult {
  const draft = createDraft(run);
  switch (event.kind) {
    case "started":
      stepStarted(draft, facts);
      break;
    case "view-read":
      stepViewRead(draft, event.view, facts);
      break;
    case "view-unavailable":
      stepViewUnavailable(draft, event.detail, facts);
      break;
    case "quoted":
      stepQuoted(draft, event, facts);
      break;
    case "quote-refused":
      stepQuoteRefused(draft, event, facts);
      break;
    case "facts-read":
      stepFacts(draft, event, facts);
      break;
    case "facts-unavailable":
      stepQuoteRefused(
        draft,
        {
          swapId: event.swapId,
          gasless: draft.swap(event.swapId).mode === "gasless",
          code: "FACTS_UNAVAILABLE",
          message: event.detail,
          retryable: true,
        },
        facts,
      );
      break;
    case "signed-gasless":
      stepGaslessSigned(draft, event, facts);
      break;
    case "submission-accepted":
    case "submission-unknown":
      stepSubmission(draft, event, facts);
      break;
    case "observed":
      stepObservation(draft, event.swapId, event.observation, facts);
      break;
    case "observation-unavailable":
      draft.effect({ kind: "ReadChain", swapId: event.swapId }, facts.nowMs + facts.pace.watchMs);
      break;
    case "transaction":
      stepTransaction(draft, event, facts);
      break;
    case "route-read":
      draft.record({
        kind: "route",
        swapId: event.swapId,
        distributions: event.distributions,
        serviceRecord: event.serviceRecord,
      });
      break;
  }
  concludeRun(draft, facts);
  return draft.result();
}
