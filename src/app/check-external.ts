import type { Configuration } from "../config/configuration.ts";
import type { WatchedHolder } from "../domain/strategy/decision.ts";
import { watchedHolders } from "../domain/strategy/strategy.ts";
import { refusedByToken } from "../engine/refused-by-token.ts";
import type { Chain } from "../ports/chain.ts";
import { type Finding, tokenRefuses } from "./finding.ts";
import { formatTokenAmount } from "./terminal.ts";

/** What strategies count besides their wallets. An address of somebody else is as right in form as that of a vault. */
export async function checkExternal({
  configuration,
  chain,
}: {
  readonly configuration: Pick<Configuration, "strategies">;
  readonly chain: Pick<Chain, "balance">;
}): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { spec } of configuration.strategies)
    for (const watched of watchedHolders(spec)) findings.push(...(await findingsOf(spec.id, watched, chain)));
  return findings;
}

async function findingsOf(
  strategy: string,
  { address, tokens }: WatchedHolder,
  chain: Pick<Chain, "balance">,
): Promise<readonly Finding[]> {
  const what = `strategy ${strategy}`;
  const held: string[] = [];
  const refused: Finding[] = [];
  for (const token of tokens) {
    const raw = await chain.balance(token.address, address).catch(refusedByToken);
    if (typeof raw === "string") refused.push(tokenRefuses(what, token, `${raw}, asked for ${address}`));
    else if (raw > 0n) held.push(formatTokenAmount(raw.toString(), token));
  }
  if (held.length > 0)
    return [...refused, { what, found: `counts ${held.join(", ")} of ${address}`, whatToDo: undefined }];
  if (refused.length > 0) return refused;
  const symbols = tokens.map(({ symbol }) => symbol).join(", ");
  const found = `counts ${address}, which holds nothing of ${symbols}: is it the right address?`;
  return [{ what, found, whatToDo: undefined, isWarning: true }];
}
