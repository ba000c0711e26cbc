import { ChainReadError } from "../domain/chain-read-error.ts";
import { codeProblem } from "../domain/guard/delegation.ts";
import type { Address } from "../domain/money/address.ts";
import { type EngineContext, laneOf } from "./engine-context.ts";

/**
 * Halts a wallet whose account has code that the configuration does not name. One node's word is not enough: all
 * endpoints that answer are asked again.
 * @throws ChainReadError where the nodes do not answer, or disagree: then nothing may be signed either
 */
export async function haltIfDelegated(context: EngineContext, wallet: Address): Promise<void> {
  const { deps, settings } = context;
  if (!settings.live || !deps.signers.has(wallet) || settings.safes?.has(wallet) === true) return;
  const named = settings.delegates?.get(wallet);
  if (codeProblem(await deps.chain.code(wallet), named) === undefined) return;
  const agreed = await deps.chain.agreed();
  const reason = codeProblem(await agreed.code(wallet, agreed.latest.number), named);
  if (reason === undefined) {
    throw new ChainReadError(
      "disagreement",
      `a node says that ${wallet} has code, and the next answer says it has none`,
    );
  }
  await laneOf(context, wallet).halt(reason);
}

/** Checks all wallets once, as at a start. Where the nodes do not answer, each signature checks again. */
export async function checkWalletCodes(context: EngineContext): Promise<void> {
  const check = async (wallet: Address): Promise<void> => {
    try {
      await haltIfDelegated(context, wallet);
    } catch (error) {
      if (!(error instanceof ChainReadError)) throw error;
      context.deps.logger.warn({ wallet, error: error.message }, "whether a wallet delegates could not be read yet");
    }
  };
  await Promise.all([...context.deps.signers.keys()].map(check));
}
