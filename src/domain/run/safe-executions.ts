import type { Address, Hex } from "../money/address.ts";

/** keccak-256 of `ExecutionSuccess(bytes32,uint256)`, of all versions of a Safe alike. */
export const EXECUTION_SUCCESS = "0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e";
/** keccak-256 of `ExecutionFromModuleSuccess(address)`: a module acted for the owners, which uses no nonce up. */
export const MODULE_SUCCESS = "0x6895c13664aa4f67288b25d7a21d7aaa34916e355fb9b6fae0a139a9085becb8";

interface Log {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** What one execution of a Safe wrote, its own word at the end. */
export interface SafeExecution<L extends Log = Log> {
  readonly logs: readonly L[];
  /** that of what owners signed; undefined where a module acted */
  readonly hash: Hex | undefined;
}

/**
 * The logs of a transaction by the executions of a Safe: owners execute all that waits in their queue at once, and what the
 * others of it move is none of this one's.
 */
export function executionsIn<L extends Log>(logs: readonly L[], safe: Address): readonly SafeExecution<L>[] {
  const found: SafeExecution<L>[] = [];
  let start = 0;
  for (const [index, log] of logs.entries()) {
    const [kind] = log.topics;
    if (log.address !== safe || (kind !== EXECUTION_SUCCESS && kind !== MODULE_SUCCESS)) continue;
    found.push({ logs: logs.slice(start, index + 1), hash: kind === MODULE_SUCCESS ? undefined : executedHash(log) });
    start = index + 1;
  }
  return found;
}

/** The first argument, which later versions index. */
export function executedHash({ topics, data }: Pick<Log, "topics" | "data">): Hex {
  return topics[1] ?? `0x${data.slice(2, 66)}`;
}
