import { systemClock } from "../adapters/clock/system-clock.ts";
import type { Configuration } from "../config/configuration.ts";
import { createLane, type Lane } from "../lane/lane.ts";
import type { Chain } from "../ports/chain.ts";
import type { LaneRowStore } from "../ports/lane-row-store.ts";
import type { IntentRow } from "../ports/lane-store.ts";
import type { Logger } from "../ports/logger.ts";
import type { Signer } from "../ports/signer.ts";
import { DEPLOYER, type PlannedContract } from "../service/settlement/deployment.ts";

/** A contract that is not on the chain yet, with the gas that its creation may take. */
export interface Missing extends PlannedContract {
  readonly gasLimit: bigint;
}

/** How a deployment stands. */
export type Progress =
  | { readonly kind: "under way" }
  | { readonly kind: "done" }
  /** an account's key is used by somebody else, too, or a node takes no transaction */
  | { readonly kind: "halted"; readonly reason: string }
  /** a transaction ended without a contract */
  | { readonly kind: "ended"; readonly reason: string };

/** A transaction that was not signed an hour after it was asked for is asked for anew. */
const SIGN_WITHIN_SECONDS = 3_600;

interface Parts {
  readonly store: LaneRowStore;
  readonly chain: Chain;
  readonly signer: Signer;
  readonly logger: Logger;
  readonly crashPoint: (label: string) => void;
}

/** The operator's account, moved by the same code as a wallet of the daemon: journal, sign, send, replace, confirm. */
export function openDeploymentLane(configuration: Configuration, parts: Parts): Lane {
  const { network, transactions } = configuration;
  return createLane(
    {
      account: parts.signer.address,
      chainId: network.chainId,
      confirmations: network.confirmations,
      cancelMarginSeconds: 0,
      ...transactions,
    },
    { ...parts, clock: systemClock, listener: { onIntent: () => undefined } },
  );
}

/** Writes down what is to be sent, in one transaction; what an earlier run wrote down and is not over goes on. */
export function submitMissing(
  lane: Lane,
  store: LaneRowStore,
  plan: { missing: readonly Missing[]; maxFeePerGas: bigint },
): void {
  store.transaction(() => {
    for (const { address, data, gasLimit } of plan.missing) {
      const rows = intentsFor(store, address);
      if (rows.some((row) => !isOver(row))) continue;
      lane.submit({
        id: `deploy-${address}-${rows.length + 1}`,
        // The deployer creates for anybody whatever it is handed.
        purpose: "relay",
        to: DEPLOYER.address,
        data,
        value: 0n,
        gasLimit,
        maxFeePerGasCap: plan.maxFeePerGas,
        signBySeconds: Math.floor(systemClock.nowMs() / 1_000) + SIGN_WITHIN_SECONDS,
        deadlineSeconds: undefined,
      });
    }
  });
}

/** All that was ever asked for to create a contract, oldest first. */
function intentsFor(store: LaneRowStore, address: string): readonly IntentRow[] {
  const rows: IntentRow[] = [];
  for (;;) {
    const row = store.intent(`deploy-${address}-${rows.length + 1}`);
    if (row === undefined) return rows;
    rows.push(row);
  }
}

/** Looks at the newest transaction of each contract. */
export function progressOf(lane: Lane, store: LaneRowStore, contracts: readonly PlannedContract[]): Progress {
  const halt = lane.halted();
  if (halt !== undefined) return { kind: "halted", reason: halt.reason };
  const newest = contracts.map(({ address }) => intentsFor(store, address).at(-1)).filter((row) => row !== undefined);
  for (const row of newest) {
    if (row.state === "dropped" || (row.state === "final" && row.outcome !== "succeeded")) {
      return { kind: "ended", reason: `${row.id} ended: ${row.outcome ?? "it was not signed in time"}` };
    }
  }
  const isDone = newest.every(({ state }) => state === "confirmed" || state === "final");
  return isDone ? { kind: "done" } : { kind: "under way" };
}

function isOver({ state }: IntentRow): boolean {
  return state === "dropped" || state === "final";
}
