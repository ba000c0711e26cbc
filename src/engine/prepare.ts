import { namedContracts } from "../domain/guard/swap-contracts.ts";
import type { BlockHead } from "../ports/chain.ts";
import { writeAndNotify } from "./alerts.ts";
import { readBaselines } from "./baselines.ts";
import type { EngineContext } from "./engine-context.ts";
import { problemOfRows } from "./rows-at-start.ts";

/** Why the daemon must not start on this chain or database. */
export class PreflightError extends Error {
  readonly code:
    | "CHAIN_ID_MISMATCH"
    | "DATABASE_IDENTITY_MISMATCH"
    | "TOKEN_MISMATCH"
    | "SETTLEMENT_MISSING"
    | "WALLET_GONE";

  constructor(code: PreflightError["code"], message: string) {
    super(message);
    this.name = "PreflightError";
    this.code = code;
  }
}

/**
 * Checks, before anything is decided, that database, wallets, chain and tokens are the configured ones, and live notes the
 * balances that the audit counts from.
 * @returns the newest block
 * @throws PreflightError when they are not, ChainReadError when the node does not answer
 */
export async function prepare(context: EngineContext): Promise<BlockHead> {
  const { settings, deps } = context;
  const { store, chain } = deps;
  const rows = await store.read({ kind: "beginning" });
  const problem = problemOfRows(rows, { ...settings, wallets: deps.signers });
  if (problem !== undefined) throw new PreflightError(problem.code, `${problem.found}; ${problem.whatToDo}`);
  await checkTokens(context);
  await checkContracts(context);
  const { network, chainId } = settings;
  await writeAndNotify(deps, [{ kind: "identity", network, chainId }]);
  const head = await chain.latest();
  // What happens before the wallets trade is none of ours; in a dry run they may even be on paper.
  if (!settings.live) return head;
  const known = new Set(rows.baselines.map(({ wallet, token }) => `${wallet} ${token}`));
  for (const wallet of deps.signers.keys()) {
    const tokens = [settings.native, ...settings.tokens].filter(({ address }) => !known.has(`${wallet} ${address}`));
    for (const baseline of await readBaselines(chain, { wallet, tokens, tip: head }))
      await writeAndNotify(deps, [{ kind: "baseline", baseline }]);
  }
  return head;
}

async function checkTokens(context: EngineContext): Promise<void> {
  for (const token of context.settings.tokens) {
    if (token.address === context.settings.native.address) continue;
    const decimals = await context.deps.chain.decimals(token.address);
    if (decimals === token.decimals) continue;
    throw new PreflightError(
      "TOKEN_MISMATCH",
      `${token.symbol} at ${token.address} says ${decimals ?? "nothing"} decimals, the configuration says ${token.decimals}; check address and network`,
    );
  }
}

/** Without code there, quotes and approvals would go to a plain account. */
async function checkContracts({ settings, deps }: EngineContext): Promise<void> {
  for (const { name, address, role } of namedContracts(settings.contracts)) {
    if ((await deps.chain.code(address)) !== "0x") continue;
    const what = role === undefined ? "the settlement address" : `the address of the ${name},`;
    throw new PreflightError(
      "SETTLEMENT_MISSING",
      `there is no contract at ${what} ${address} on ${settings.network} (chain ${settings.chainId}); correct \`service.${role ?? "settlement"}\``,
    );
  }
}
