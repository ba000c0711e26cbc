import { type Address, type Hex, NATIVE_TOKEN, wordOf } from "../../domain/money/address.ts";
import type { Token } from "../../domain/money/token.ts";
import { loggedAmount, TRANSFER_TOPIC } from "../../domain/run/measure-fill.ts";
import type { Chain } from "../../ports/chain.ts";
import type { ScanContext } from "./patient-chain.ts";

/** A log with its block and transaction. */
export type FoundLog = Awaited<ReturnType<Chain["logs"]>>[number];

/** Blocks, both ends included. */
export interface Range {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** What is read of a wallet, and who lists the logs. */
interface Asked extends Range {
  readonly wallet: Address;
  readonly logs: Chain["logs"];
}

interface AskedInPieces extends Asked {
  readonly finalized: number;
  /** all endpoints list the logs: what one of them listed before is read anew */
  readonly isOfAll: boolean;
}

/** Transfers of the configured tokens out of a wallet and into it. */
export interface Moves {
  readonly out: readonly FoundLog[];
  readonly into: readonly FoundLog[];
}

/** What the logs of a range of blocks show of a wallet. */
export interface ReadBack extends Moves {
  readonly fills: readonly FoundLog[];
  /** the last block that was read: before the end of the range where the time was up */
  readonly upTo: number;
}

/** What was read of final blocks, by wallet: a lost answer or a limit of time costs a piece, not all that was read. */
export type ReadSoFar = Map<Address, ReadBack & { readonly fromBlock: number; readonly isOfAll: boolean }>;

/** How long a check may take before it records how far it came; the next check goes on from there. */
const MOST_MS = 60_000;
/** Nodes give as little as 10 blocks a query, and a query of each token is asked: pieces grow while they are quick. */
const FIRST_BLOCKS = 250;
const MOST_BLOCKS = 2_000;
const FEWEST_BLOCKS = 10;
const QUICK_MS = 2_000;

/**
 * Reads fills and transfers of a wallet in pieces, oldest first, and keeps what it has read of final blocks.
 * @throws ChainReadError where a piece cannot be read; the pieces before it are kept
 */
export async function readBack(context: ScanContext, soFar: ReadSoFar, asked: AskedInPieces): Promise<ReadBack> {
  const { clock } = context.deps;
  const { wallet, logs, fromBlock, toBlock, finalized, isOfAll } = asked;
  const kept = soFar.get(wallet);
  const isKept = kept?.fromBlock === fromBlock && kept.isOfAll === isOfAll;
  let read: ReadBack = isKept ? kept : { fills: [], out: [], into: [], upTo: fromBlock - 1 };
  const startedMs = clock.monotonicMs();
  for (let blocks = FIRST_BLOCKS; read.upTo < toBlock; ) {
    const beganMs = clock.monotonicMs();
    if (beganMs - startedMs >= MOST_MS) return read;
    const first = read.upTo + 1;
    // What lies above the newest final block may be another block next time: it is not kept, and read with the end.
    const isEnd = toBlock - first < blocks || first > finalized;
    const end = isEnd ? toBlock : Math.min(finalized, toBlock);
    const piece = { wallet, logs, fromBlock: first, toBlock: Math.min(first + blocks - 1, end) };
    const fills = await readFills(context, piece);
    const moves = await readMoves(context, piece);
    read = {
      fills: [...read.fills, ...fills],
      out: [...read.out, ...moves.out],
      into: [...read.into, ...moves.into],
      upTo: piece.toBlock,
    };
    if (read.upTo <= finalized) soFar.set(wallet, { ...read, fromBlock, isOfAll });
    const isQuick = clock.monotonicMs() - beganMs < QUICK_MS;
    blocks = isQuick ? Math.min(MOST_BLOCKS, blocks * 2) : Math.max(FEWEST_BLOCKS, Math.floor(blocks / 2));
  }
  return read;
}

/** What may have been trades of the wallet: its fills; where events do not name the owner, every outflow. */
export async function readTrades(context: ScanContext, asked: Asked): Promise<readonly FoundLog[]> {
  if (context.deps.service.profile.nonceRecord !== undefined) return await readFills(context, asked);
  return (await readMoves(context, asked)).out.filter((log) => loggedAmount(log.data) > 0n);
}

/** The tokens that move by logs: all but the chain's own. */
export function tokensOf({ settings }: ScanContext): readonly Token[] {
  return settings.tokens.filter(({ address }) => address !== NATIVE_TOKEN);
}

/** Fills of the wallet in our settlement, of whatever nonce; none where its events do not name the owner. */
async function readFills(context: ScanContext, { wallet, logs, ...range }: Asked): Promise<readonly FoundLog[]> {
  const { nonceRecord } = context.deps.service.profile;
  if (nonceRecord === undefined) return [];
  const topics = nonceRecord.fillTopics(wallet, 0n).slice(0, 2);
  return await logs({ address: context.settings.contracts[nonceRecord.at], topics, ...range });
}

/** All tokens in one question: a check asks it of every wallet, and nodes answer it as quickly as for one token. */
async function readMoves(context: ScanContext, { wallet, logs, ...range }: Asked): Promise<Moves> {
  const word = wordOf(wallet);
  const address = tokensOf(context).map((token) => token.address);
  const read = (topics: readonly (Hex | null)[]): Promise<readonly FoundLog[]> => logs({ address, topics, ...range });
  const [out, into] = await Promise.all([read([TRANSFER_TOPIC, word]), read([TRANSFER_TOPIC, null, word])]);
  return { out, into };
}
