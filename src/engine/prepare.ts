import { namedContracts } from "../domain/guard/swap-contracts.ts";
import type { Address } from "../domain/money/address.ts";
import type { Token } from "../domain/money/token.ts";
import type { BlockHead } from "../ports/chain.ts";
import { writeAndNotify } from "./alerts.ts";
import type { EngineContext } from "./engine-context.ts";
import { refusedAsUndefined } from "./perform/node-fault.ts";
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
 * Checks, before anything is decided, that database, wallets, chain and tokens are the configured ones, and notes the
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
  const known = new Set(rows.baselines.map(({ wallet, token }) => `${wallet} ${token}`));
  for (const wallet of deps.signers.keys()) {
    const tokens = [settings.native, ...settings.tokens].filter(({ address }) => !known.has(`${wallet} ${address}`));
    await addBaselines(context, { wallet, tokens, tip: head });
  }
  return head;
}

async function addBaselines(
  { deps }: EngineContext,
  { wallet, tokens, tip }: { readonly wallet: Address; readonly tokens: readonly Token[]; readonly tip: BlockHead },
): Promise<void> {
  const { chain } = deps;
  if (tokens.length === 0) return;
  const settled = await settledBlock(chain, wallet, tip);
  for (const { address, symbol, decimals } of tokens) {
    const final =
      settled === tip ? undefined : await chain.balance(address, wallet, settled.number).catch(refusedAsUndefined);
    const [{ number: blockNumber, timestamp: blockTimeSeconds }, balance] =
      final === undefined ? [tip, await chain.balance(address, wallet, tip.number)] : [settled, final];
    const baseline = { wallet, token: address, symbol, decimals, blockNumber, blockTimeSeconds, balance };
    await writeAndNotify(deps, [{ kind: "baseline", baseline }]);
  }
}

/**
 * The newest final block: a deposit above it may come once more in a later block, and would count twice. Where the
 * wallet has sent something since, or no endpoint answers, the tip: what was sent before the first start is none of
 * ours.
 */
async function settledBlock(
  chain: EngineContext["deps"]["chain"],
  wallet: Address,
  tip: BlockHead,
): Promise<BlockHead> {
  const newest = await chain.finalized();
  const final = newest.number < tip.number ? newest : tip;
  const before = await chain.transactionCount(wallet, final.number).catch(refusedAsUndefined);
  return before !== undefined && before === (await chain.transactionCount(wallet, tip.number)) ? final : tip;
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
