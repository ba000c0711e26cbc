import { systemClock } from "../adapters/clock/system-clock.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import { createLane, type Lane } from "../lane/lane.ts";
import { plannedIntent } from "../lane/planned-intent.ts";
import type { Chain } from "../ports/chain.ts";
import type { LaneRowStore, Lanes } from "../ports/lane-row-store.ts";
import type { IntentRow, LaneAccount } from "../ports/lane-store.ts";
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
  /** an account's key is also used elsewhere, or a node takes no transaction */
  | { readonly kind: "halted"; readonly reason: string }
  /** a transaction ended without a contract */
  | { readonly kind: "ended"; readonly reason: string };

/** A transaction that was not signed an hour after it was asked for is asked for anew. */
const SIGN_WITHIN_SECONDS = 3_600;

interface Parts {
  readonly lanes: Lanes;
  readonly chain: Chain;
  readonly signer: Signer;
  readonly logger: Logger;
  readonly crashPoint: (label: string) => void;
}

/** The operator's account, moved by the same code as a wallet of the daemon: journal, sign, send, replace, confirm. */
export function openDeploymentLane(configuration: Configuration, { lanes, ...parts }: Parts): Lane {
  const { network, transactions } = configuration;
  return createLane(
    {
      account: parts.signer.address,
      chainId: network.chainId,
      confirmations: network.confirmations,
      emptyGasLimit: network.emptyGasLimit,
      cancelMarginSeconds: 0,
      ...transactions,
    },
    { ...parts, store: lanes.store(), clock: systemClock },
  );
}

/** Another account that has signed what creates one of the contracts, which is not over: it may still be mined. */
export function signerElsewhere(
  { rows }: Pick<Lanes, "rows">,
  { account }: LaneAccount,
  missing: readonly Missing[],
): Address | undefined {
  const asked = missing.flatMap(({ address }) => intentsFor(rows, address));
  return asked.find((row) => row.account !== account && row.nonce !== undefined && !isOver(row))?.account;
}

/**
 * Writes down what is to be sent, in one transaction; what an earlier run of the account wrote down and is not over goes
 * on. What another one asked for and never signed, nobody sends.
 */
export function submitMissing(
  { rows, write }: Lanes,
  account: LaneAccount,
  plan: { missing: readonly Missing[]; maxFeePerGas: bigint },
): void {
  const nowMs = systemClock.nowMs();
  rows.transaction(() => {
    for (const { address, data, gasLimit } of plan.missing) {
      const asked = intentsFor(rows, address);
      if (asked.some((row) => row.account === account.account && !isOver(row))) continue;
      const request = {
        id: `deploy-${address}-${asked.length + 1}`,
        // The deployer creates for anybody whatever it is handed.
        purpose: "relay",
        to: DEPLOYER.address,
        data,
        value: 0n,
        gasLimit,
        maxFeePerGasCap: plan.maxFeePerGas,
        signBySeconds: Math.floor(nowMs / 1_000) + SIGN_WITHIN_SECONDS,
        deadlineSeconds: undefined,
      } as const;
      write([{ kind: "intent", intent: plannedIntent(account, request, nowMs) }], nowMs);
    }
  });
}

/** All that was ever asked for to create a contract, oldest first. */
function intentsFor(lanes: Pick<LaneRowStore, "intent">, address: string): readonly IntentRow[] {
  const rows: IntentRow[] = [];
  for (;;) {
    const row = lanes.intent(`deploy-${address}-${rows.length + 1}`);
    if (row === undefined) return rows;
    rows.push(row);
  }
}

/** Checks the newest transaction of each contract. */
export async function progressOf(
  lane: Lane,
  { rows }: Lanes,
  contracts: readonly PlannedContract[],
): Promise<Progress> {
  const halt = await lane.halted();
  if (halt !== undefined) return { kind: "halted", reason: halt.reason };
  const newest = contracts.map(({ address }) => intentsFor(rows, address).at(-1)).filter((row) => row !== undefined);
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
