import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

/** @throws CommandFailure where a relayer's account is a wallet of the same file: both would sign with the same nonces */
export function requireOwnRelayer({ wallets }: Configuration, relayer: Address): void {
  const wallet = [...wallets].find(([, { address }]) => address === relayer);
  if (wallet === undefined) return;
  throw new CommandFailure(
    EXIT.configuration,
    `serve.relayer is ${relayer}, which is the wallet ${wallet[0]}: relayer and daemon would take each other's nonces, and the wallet would pay the gas of others; give the relayer a key of its own`,
  );
}
