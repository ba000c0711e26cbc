import { systemClock } from "../adapters/clock/system-clock.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import { larger } from "../domain/money/bigint.ts";
import { createLane, type Lane } from "../lane/lane.ts";
import { plannedIntent } from "../lane/planned-intent.ts";
import type { Chain } from "../ports/chain.ts";
import type { LaneListener } from "../ports/lane-event.ts";
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
  /** hears what the account waits for; undefined: something was done since */
  readonly waits: (reason: string | undefined) => void;
}

/** The operator's account, moved by the same code as a wallet of the daemon: journal, sign, send, replace, confirm. */
export function openDeploymentLane(configuration: Configuration, { lanes, waits, ...parts }: Parts): Lane {
  const { network, transactions } = configuration;
  const listener: LaneListener = { onIntent: () => waits(undefined), onRefused: ({ detail }) => waits(detail) };
  return createLane(
    {
      account: parts.signer.address,
      chainId: network.chainId,
      confirmations: network.confirmations,
      emptyGasLimit: network.emptyGasLimit,
      cancelMarginSeconds: 0,
      ...transactions,
    },
    { ...parts, logger: heardBy(waits, parts.logger), store: lanes.store(listener), clock: systemClock },
  );
}

/** What a lane warns of is why it waits: its operator looks at a terminal, and at no log. */
function heardBy(hear: (message: string) => void, logger: Logger): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn(fields, message) {
      hear(message);
      logger.warn(fields, message);
    },
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => heardBy(hear, logger.child(fields)),
  };
}

/** The most that an account must have at once: each creation offers more than it pays, after those before it are paid. */
export function offeredAtOnce(missing: readonly Missing[], price: { gasPrice: bigint; maxFeePerGas: bigint }): bigint {
  let [paid, most] = [0n, 0n];
  for (const { gasLimit } of missing) {
    most = larger(most, paid + gasLimit * price.maxFeePerGas);
    paid += gasLimit * price.gasPrice;
  }
  return most;
}

/** What an account waits for: each reason is said once, and the last one is known until something is done. */
export function createWaiting(say: (reason: string) => void) {
  const said = new Set<string>();
  let last: string | undefined;
  return {
    reason: () => last,
    hear(reason: string | undefined): void {
      last = reason;
      if (reason !== undefined && !said.has(reason)) say(reason);
      if (reason !== undefined) said.add(reason);
    },
  };
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

/** A deployment under way. */
export interface Deployment extends LaneAccount {
  readonly lane: Lane;
  readonly lanes: Lanes;
  readonly maxFeePerGas: bigint;
  /** whether the chain shows a contract's code */
  readonly isThere: (contract: PlannedContract) => Promise<boolean>;
  /** waits for the next look at the chain; false: there is none, the command is to stop */
  readonly wait: () => Promise<boolean>;
}

/** Creates one contract after the other: where one is not created, none after it costs anything. */
export async function createMissing(deployment: Deployment, missing: readonly Missing[]): Promise<Progress> {
  // What an earlier run asked for may be over by now.
  await deployment.lane.tick();
  for (const contract of missing) {
    // One was mined since the plan was made: a second creation at its address would burn its gas.
    if (await deployment.isThere(contract)) continue;
    submit(deployment, contract);
    const progress = await follow(deployment, contract);
    if (progress.kind !== "done") return progress;
  }
  return { kind: "done" };
}

/**
 * Writes down what is to be sent for a contract; what an earlier run of the account wrote down and is not over goes on.
 * What another one asked for and never signed, nobody sends.
 */
function submit({ lanes, account, chainId, maxFeePerGas }: Deployment, { address, data, gasLimit }: Missing): void {
  const { rows, write } = lanes;
  const nowMs = systemClock.nowMs();
  rows.transaction(() => {
    const asked = intentsFor(rows, address);
    if (asked.some((row) => row.account === account && !isOver(row))) return;
    const request = {
      id: `deploy-${address}-${asked.length + 1}`,
      // The deployer creates for anybody whatever it is handed.
      purpose: "relay",
      to: DEPLOYER.address,
      data,
      value: 0n,
      gasLimit,
      maxFeePerGasCap: maxFeePerGas,
      signBySeconds: Math.floor(nowMs / 1_000) + SIGN_WITHIN_SECONDS,
      deadlineSeconds: undefined,
    } as const;
    write([{ kind: "intent", intent: plannedIntent({ account, chainId }, request, nowMs) }], nowMs);
  });
}

async function follow(deployment: Deployment, contract: PlannedContract): Promise<Progress> {
  const { lane, isThere, wait } = deployment;
  for (;;) {
    await lane.tick();
    const progress = await progressOf(deployment, contract);
    if (progress.kind === "halted" || progress.kind === "ended") return progress;
    if (progress.kind === "done" && (await isThere(contract))) return progress;
    if (!(await wait())) return { kind: "under way" };
  }
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

/** Checks the account's newest transaction of a contract. */
async function progressOf({ lane, lanes, account }: Deployment, { name, address }: PlannedContract): Promise<Progress> {
  const { rows } = lanes;
  const halt = await lane.halted();
  if (halt !== undefined) return { kind: "halted", reason: halt.reason };
  const row = intentsFor(rows, address).findLast((asked) => asked.account === account);
  if (row === undefined) return { kind: "under way" };
  if (row.state === "dropped" || (row.state === "final" && row.outcome !== "succeeded")) {
    return { kind: "ended", reason: `${row.id} ended: ${row.outcome ?? "it was not signed in time"}` };
  }
  if (row.state !== "confirmed" && row.state !== "final") return { kind: "under way" };
  const reverted = rows
    .attempts(row.id)
    .find(({ hash, state }) => hash === row.minedAttemptHash && state === "reverted");
  if (reverted === undefined) return { kind: "done" };
  const advice = "run the command again once its block is final";
  return { kind: "ended", reason: `the creation of the ${name} reverted in ${reverted.hash}: ${advice}` };
}

function isOver({ state }: IntentRow): boolean {
  return state === "dropped" || state === "final";
}
