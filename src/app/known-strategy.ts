import { CommandFailure, EXIT } from "./exit-codes.ts";

/** @throws CommandFailure 2 when there is no such strategy */
export function assertKnown(strategies: readonly string[], strategy: string): void {
  if (strategies.includes(strategy)) return;
  const known =
    strategies.length === 0
      ? "the database knows none until the daemon has reached its node; see: swapd status"
      : `known are ${strategies.join(", ")}`;
  throw new CommandFailure(EXIT.usage, `no strategy ${JSON.stringify(strategy)}; ${known}`);
}
