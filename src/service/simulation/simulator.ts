import { readViewWord } from "../../chain/at-block/batch-reader.ts";
import { parseQuantity } from "../../chain/at-block/head.ts";
import { addressWord, callData } from "../../chain/at-block/words.ts";
import { RpcError } from "../../chain/json-rpc.ts";
import { mayPassSoon } from "../../chain/node-errors.ts";
import { toQuantity } from "../../chain/quantity.ts";
import { type NodeView, type Overrides, overrideSlots, viewNode, viewRequest } from "../../chain/storage/node-view.ts";
import type { StorageSlot } from "../../chain/storage/storage-layouts.ts";
import { createTokenStorage, type StoredView, type TokenStorage } from "../../chain/storage/token-storage.ts";
import { NATIVE_TOKEN } from "../../domain/money/address.ts";
import { retryRead } from "../../net/retry-read.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NetworkOptions } from "../options.ts";
import { SELECTOR } from "../pools/selectors.ts";
import type { Snapshots } from "../pools/snapshots.ts";
import type { Quote } from "../quotes/quote.ts";
import { type Attempt, attemptOf } from "./attempt.ts";
import { readSimulation, simulationRequests, type WalletSimulation } from "./wallet-simulation.ts";

/** What a quote's swap would do at the newest block, by a wallet that has the amount and has allowed it to be taken. */
export type Simulation = {
  readonly blockNumber: number;
  /** whether the wallet really has the amount */
  readonly funded: boolean;
  /** whether the settlement may really take the amount; a native token needs no approval */
  readonly approved: boolean;
} & Outcome;

type Outcome =
  | {
      readonly status: "ok";
      readonly amountOut: bigint;
      /** what a receipt would say; undefined where it cannot be known, and for a swap that the relayer sends */
      readonly gasUsed: bigint | undefined;
      /** what the transaction should be given; undefined like `gasUsed` */
      readonly gasLimit: bigint | undefined;
    }
  /** `failed`: it reverts also with funds and allowance. `skipped`: it cannot be known. */
  | { readonly status: "failed" | "skipped"; readonly reason: string };

/** Simulates swaps without sending them. */
export interface Simulator {
  /** @throws RpcError when the node does not even answer what the wallet has */
  simulate(quote: Quote): Promise<Simulation>;
}

export interface SimulatorDependencies {
  readonly snapshots: Pick<Snapshots, "current" | "mode">;
  readonly clock: Clock;
}

/** For all round trips of one simulation, of which there are at most five. */
const TIME_LIMIT_MS = 5_000;
const RETRIES = {
  ...{ retries: 2, minDelayMs: 50, maxDelayMs: 400 },
  isTransient: (error: Error) => error instanceof RpcError && mayPassSoon(error),
};

export function createSimulator(network: NetworkOptions, dependencies: SimulatorDependencies): Simulator {
  const { snapshots } = dependencies;
  const storage = createTokenStorage(dependencies.clock);
  return {
    async simulate(quote) {
      const { head, rpc } = await snapshots.current();
      const attempt = attemptOf(quote, network);
      if (attempt === undefined) {
        const reason = "the quote is indicative: ask for one with fromAddress";
        return { blockNumber: head.number, funded: false, approved: false, status: "skipped", reason };
      }
      const node = viewNode(rpc, head, TIME_LIMIT_MS);
      const { wallet, simulated } = await retryRead(() => simulateAt(attempt, node), RETRIES);
      const found = { blockNumber: head.number, ...factsOf(attempt, wallet, simulated) };
      if (simulated.kind === "works" || (found.funded && found.approved))
        return { ...found, ...outcomeOf(attempt, simulated) };
      if (snapshots.mode() !== "override") {
        return { ...found, ...skipped("the network's node takes no state overrides") };
      }
      try {
        return { ...found, ...(await tryWithOverrides({ attempt, wallet, node, storage })) };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        return { ...found, status: "skipped", reason: "the network's node did not answer properly: try again" };
      }
    },
  };
}

/** What a wallet has; undefined where the token does not say. */
interface Wallet {
  readonly balance: bigint | undefined;
  readonly allowance: bigint | undefined;
}

/** What the wallet has, and what the swap does as the chain is, in one round trip. */
async function simulateAt(attempt: Attempt, node: NodeView): Promise<{ wallet: Wallet; simulated: WalletSimulation }> {
  const { host, block } = node;
  const { call, token } = attempt;
  const isNative = token === NATIVE_TOKEN;
  const questions = isNative
    ? [{ method: "eth_getBalance", params: [call.from, block] }]
    : [balanceView(attempt), allowanceView(attempt)].map(({ data }) => viewRequest({ to: token, data }, block));
  const answers = await node.ask([...questions, ...simulationRequests(call, node, undefined)]);
  const wallet = isNative
    ? { balance: parseQuantity(host, answers[0]), allowance: attempt.gross }
    : { balance: readViewWord(host, answers[0]), allowance: readViewWord(host, answers[1]) };
  return { wallet, simulated: readSimulation(host, answers.slice(questions.length), attempt.readAmount) };
}

function balanceView({ token, call }: Attempt): StoredView {
  const data = callData(SELECTOR.balanceOf, addressWord(call.from));
  return { token, name: "balances", data, accounts: [call.from] };
}

function allowanceView({ token, call }: Attempt): StoredView {
  const data = callData(SELECTOR.allowance, addressWord(call.from), addressWord(call.to));
  return { token, name: "allowances", data, accounts: [call.from, call.to] };
}

function factsOf(attempt: Attempt, { balance = 0n, allowance = 0n }: Wallet, simulated: WalletSimulation) {
  // A token that moved the amount has shown both, whatever its views say.
  const isShown = simulated.kind === "works" && attempt.isExact;
  return { funded: isShown || balance >= attempt.gross, approved: isShown || allowance >= attempt.gross };
}

function skipped(why: string): Outcome {
  return { status: "skipped", reason: `${why}; fund and approve the wallet to have its swap tried` };
}

function outcomeOf({ isExact }: Attempt, simulated: WalletSimulation): Outcome {
  if (simulated.kind === "reverts") return { status: "failed", reason: simulated.reason };
  if (simulated.kind === "not run")
    return { status: "skipped", reason: "the network's node could not run the swap: try again" };
  const { amountOut, gasUsed, gasLimit } = simulated;
  if (amountOut === "not said")
    return { status: "skipped", reason: "it works, but its router does not say what it pays" };
  if (!isExact) return { status: "ok", amountOut, gasUsed: undefined, gasLimit: undefined };
  return { status: "ok", amountOut, gasUsed, gasLimit };
}

interface Lacking {
  readonly attempt: Attempt;
  readonly wallet: Wallet;
  readonly node: NodeView;
  readonly storage: TokenStorage;
}

/** Tries the swap with what the wallet lacks, and only that: what it has is left as the chain has it. */
async function tryWithOverrides({ attempt, wallet, node, storage }: Lacking): Promise<Outcome> {
  const { call, gross, token, readAmount } = attempt;
  if (token === NATIVE_TOKEN) {
    const overrides: Overrides = { [call.from]: { balance: toQuantity(gross) } };
    return outcomeOf(
      attempt,
      readSimulation(node.host, await node.ask(simulationRequests(call, node, overrides)), readAmount),
    );
  }
  const views = [
    { view: balanceView(attempt), has: wallet.balance ?? 0n },
    { view: allowanceView(attempt), has: wallet.allowance ?? 0n },
  ].filter(({ has }) => has < gross);
  const found = await Promise.all(views.map(async (lack) => ({ ...lack, slot: await storage.find(lack.view, node) })));
  const proved = found.flatMap(({ slot, ...lack }) => (slot === undefined ? [] : [{ ...lack, slot }]));
  const unproved = found.find(({ slot }) => slot === undefined);
  if (unproved !== undefined) return unprovable(unproved.view);
  const overrides = overrideSlots(await wordsFor(proved, gross, node));
  const proofs = proved.map(({ view }) => viewRequest({ to: token, data: view.data }, node.block, overrides));
  const answers = await node.ask([...proofs, ...simulationRequests(call, node, overrides)]);
  // What was found may have been of another wallet, of an older block, or of a proxy that is another token by now.
  const disproved = proved.find((_, index) => readViewWord(node.host, answers[index]) !== gross);
  if (disproved === undefined)
    return outcomeOf(attempt, readSimulation(node.host, answers.slice(proofs.length), readAmount));
  storage.forget(disproved.view);
  return unprovable(disproved.view);
}

function unprovable({ token, name }: StoredView): Outcome {
  return skipped(`no word of storage could be proved to hold the ${name} of ${token}`);
}

/** Some tokens keep flags next to a balance, such as that an account is blocked: all of the word but the amount stays. */
async function wordsFor(
  lacking: readonly { readonly slot: StorageSlot; readonly has: bigint }[],
  amount: bigint,
  { host, block, ask }: NodeView,
): Promise<{ slot: StorageSlot; value: bigint }[]> {
  const answers = await ask(
    lacking.map(({ slot }) => ({ method: "eth_getStorageAt", params: [slot.contract, slot.key, block] })),
  );
  return lacking.map(({ slot, has }, index) => {
    const word = parseQuantity(host, answers[index]);
    return { slot, value: word >= has ? word - has + amount : amount };
  });
}
