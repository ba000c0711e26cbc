import type { Address } from "../domain/money/address.ts";
import type { Answered } from "../ports/questions.ts";

type Rows = Pick<Answered<"beginning">, "identity" | "work">;

/** Why a start must not go on with a database, whatever the chain says, and what a person does about it. */
export interface RowsProblem {
  readonly code: "DATABASE_IDENTITY_MISMATCH" | "WALLET_GONE";
  readonly found: string;
  readonly whatToDo: string;
}

/** The network and the wallets that a configuration names. */
interface Named {
  readonly network: string;
  readonly chainId: number;
  readonly wallets: { has(address: Address): boolean };
}

/** Nothing is signed yet, and without its key nothing will be: what a person took away may be gone for good. */
const NEEDS_NO_KEY = new Set(["due", "deciding", "planned", "quoted"]);

/**
 * Whether wallets and database are the configured ones. Without its key a swap that was signed could not be replaced,
 * cancelled or taken back: its wallet must not be removed while it is open.
 */
export function problemOfRows({ identity: known, work }: Rows, named: Named): RowsProblem | undefined {
  if (known !== undefined && (known.chainId !== named.chainId || known.network !== named.network)) {
    return {
      code: "DATABASE_IDENTITY_MISMATCH",
      found: `the database belongs to ${known.network} (chain ${known.chainId}), the configuration names ${named.network} (chain ${named.chainId})`,
      whatToDo: "give each network a database of its own",
    };
  }
  for (const { runId, swapId, strategy, state, wallet } of work) {
    if (wallet === undefined || named.wallets.has(wallet) || NEEDS_NO_KEY.has(state)) continue;
    const what = swapId === undefined ? `run ${runId}` : `swap ${swapId}`;
    return {
      code: "WALLET_GONE",
      found: `${what} of strategy ${strategy} is open (${state}) and belongs to wallet ${wallet}, which the configuration no longer names`,
      whatToDo: `put the wallet back under \`wallets\`, and remove it once \`swapd show ${swapId ?? runId}\` says that it has ended`,
    };
  }
  return undefined;
}
