import type { Hex } from "../../domain/money/address.ts";
import { pancakeswapV2 } from "./pancakeswap-v2/kind.ts";
import { pancakeswapV3 } from "./pancakeswap-v3/kind.ts";
import type { PoolKind, Protocol } from "./pool.ts";
import { slipstream } from "./slipstream/kind.ts";
import { solidly } from "./solidly/kind.ts";
import { stable } from "./stable/kind.ts";
import { uniswapV2 } from "./uniswap-v2/kind.ts";
import { uniswapV3 } from "./uniswap-v3/kind.ts";
import { uniswapV4 } from "./uniswap-v4/kind.ts";

/** Every kind of pool that the service quotes. A new kind is a folder, and a line here. */
export const POOL_KINDS: readonly PoolKind[] = Object.values({
  uniswapV2,
  uniswapV3,
  stable,
  pancakeswapV3,
  pancakeswapV2,
  uniswapV4,
  slipstream,
  solidly,
});

const BY_NUMBER: ReadonlyMap<number, PoolKind> = new Map(POOL_KINDS.map((kind) => [kind.number, kind]));

/** Names of all kinds: what a request may allow. */
export const LIQUIDITY_SOURCES: readonly string[] = POOL_KINDS.map((kind) => kind.source);

/** Whether a number is that of a kind. */
export function isPoolKind(number: number): boolean {
  return BY_NUMBER.has(number);
}

/** What is wrong with a number of a file, if it is that of no kind, and what may stand there. */
export function kindProblem(number: number): { readonly message: string; readonly suggestion: string } | undefined {
  if (isPoolKind(number)) return undefined;
  const known = POOL_KINDS.map((kind) => `${kind.number} (${kind.source})`).join(", ");
  return { message: `${number} is the number of no kind of pool`, suggestion: `write one of ${known}` };
}

/** The kind of a pool, or of a factory's pools; options and rows with other numbers are refused where they come in. */
export function kindOf({ kind: number }: { readonly kind: number }): PoolKind {
  const kind = BY_NUMBER.get(number);
  if (kind === undefined) throw new Error(`${number} is the number of no kind of pool`);
  return kind;
}

/** The branch of our executor that trades with a factory's pools, undefined where it has none for them. */
export function executorKindOf(protocol: { readonly kind: number }): number | undefined {
  return kindOf(protocol).leg?.executorKind;
}

const ZERO_HASH: Hex = `0x${"0".repeat(64)}`;

/** A factory as our executor has it in its list. */
export interface ListedProtocol extends Protocol {
  /** the number of the executor's own branch */
  readonly kind: number;
  /** zero where it is not known */
  readonly initCodeHash: Hex;
}

/** Whether an executor of ours may be without a factory: it is of an earlier release, which had no branch for its pools. */
export function isUnlistedByEarlier(protocol: Protocol): boolean {
  return kindOf(protocol).leg?.isLater === true;
}

/** The most factories that our executor can list. */
export const MOST_LISTED = 8;

/**
 * The factories as our executor has them in its list. Those that it has no branch for stand behind all others, so that
 * each place is the same in both.
 */
export function executorList(protocols: readonly Protocol[]): readonly ListedProtocol[] {
  return protocols.flatMap((protocol) => {
    const kind = executorKindOf(protocol);
    return kind === undefined ? [] : [{ ...protocol, kind, initCodeHash: protocol.initCodeHash ?? ZERO_HASH }];
  });
}
