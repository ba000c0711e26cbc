import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Chain } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";

/** What a check asks of the chain. */
type ReadsOfAScan = Pick<
  Chain,
  "latest" | "finalized" | "block" | "transactionCount" | "logs" | "receipt" | "balance" | "allowance" | "agreed"
>;

/** The engine's context as a check needs it. */
export type ScanContext = Pick<EngineContext, "settings"> & {
  readonly deps: Omit<EngineContext["deps"], "chain"> & { readonly chain: ReadsOfAScan };
};

const MOST_TRIES = 6;
const FIRST_PAUSE_MS = 250;

/**
 * The same context, whose reads are asked again where no endpoint answered. A check is many reads, more with each token:
 * were it begun anew for each lost answer, it would hardly ever end behind a node that loses a few in a hundred.
 */
export function withPatience(context: EngineContext, signal: AbortSignal): ScanContext {
  const { chain, clock } = context.deps;
  const patient =
    <Args extends readonly unknown[], Answer>(read: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await read(...args);
        } catch (error) {
          if (!isPassing(error) || tries === MOST_TRIES || signal.aborted) throw error;
        }
        await clock.sleep(FIRST_PAUSE_MS * 2 ** (tries - 1), signal);
      }
    };
  const reads: ReadsOfAScan = {
    latest: patient((from) => chain.latest(from)),
    finalized: patient(() => chain.finalized()),
    block: patient((number) => chain.block(number)),
    transactionCount: patient((...asked) => chain.transactionCount(...asked)),
    logs: patient((asked) => chain.logs(asked)),
    receipt: patient((hash) => chain.receipt(hash)),
    balance: patient((...asked) => chain.balance(...asked)),
    allowance: patient((asked) => chain.allowance(asked)),
    agreed: async () => {
      const agreed = await patient(() => chain.agreed())();
      return {
        ...agreed,
        finalized: patient(() => agreed.finalized()),
        transactionCount: patient((...asked) => agreed.transactionCount(...asked)),
        allowance: patient((...asked) => agreed.allowance(...asked)),
        highestAllowance: patient((...asked) => agreed.highestAllowance(...asked)),
        logs: patient((asked) => agreed.logs(asked)),
      };
    },
  };
  return { settings: context.settings, deps: { ...context.deps, chain: reads } };
}

function isPassing(error: unknown): boolean {
  return error instanceof ChainReadError && (error.code === "unreachable" || error.code === "malformed answer");
}
