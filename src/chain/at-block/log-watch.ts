import { z } from "zod";
import type { Address, Hex } from "../../domain/money/address.ts";
import { type JsonRpc, RpcError } from "../json-rpc.ts";
import { toQuantity } from "../quantity.ts";
import { type BlockHeader, malformedAnswer, parseBlock } from "./head.ts";
import { isComputed, mayContain, type WatchedTopic } from "./log-bloom.ts";

/**
 * Whether a contract may have logged one of the watched topics in the blocks that were read.
 * @param subject the first indexed value of the logs in question, where only those of one are; absent: any of its logs
 */
export type MayHaveLogged = (address: Address, subject?: Hex) => boolean;

/** The most blocks that are read one by one; after a longer gap everything may have happened. */
const MAX_BLOCKS = 32;

const logsSchema = z.array(
  z.object({ address: z.string(), topics: z.array(z.string()), blockHash: z.string().nullable() }),
);

/** A node that cannot know leaves everything possible: more is read then, and nothing old is taken for new. */
const EVERYBODY: MayHaveLogged = () => true;

/**
 * Which contracts logged one of the topics after one block, up to and with another that follows it. Each block is asked
 * for by its hash, so an answer is of that block or none. A node that says "nothing" against its own bloom is not believed.
 */
export async function watchLogs(
  rpc: JsonRpc,
  blocks: { readonly from: BlockHeader; readonly to: BlockHeader },
  topics: readonly WatchedTopic[],
): Promise<MayHaveLogged> {
  try {
    const between = await headersBetween(rpc, blocks);
    if (between === undefined) return EVERYBODY;
    const silent = (header: BlockHeader) =>
      isComputed(header.logsBloom) && !topics.some((topic) => mayContain(header.logsBloom, topic));
    const loud = between.filter((header) => !silent(header));
    const params = (blockHash: Hex) => [{ blockHash, topics: [topics.map(({ topic }) => topic)] }];
    const answers = await rpc.batch(loud.map(({ hash }) => ({ method: "eth_getLogs", params: params(hash) })));
    const watches = loud.map((header, index) => watchOf(rpc.host, header, answers[index]));
    return (address, subject) => watches.some((watch) => watch(address, subject));
  } catch (error) {
    if (error instanceof RpcError) return EVERYBODY;
    throw error;
  }
}

/** The blocks after `from`, up to and with `to`; undefined when they do not follow each other. */
async function headersBetween(
  rpc: JsonRpc,
  { from, to }: { readonly from: BlockHeader; readonly to: BlockHeader },
): Promise<readonly BlockHeader[] | undefined> {
  const count = to.number - from.number;
  if (count < 1 || count > MAX_BLOCKS) return undefined;
  const numbers = Array.from({ length: count - 1 }, (_, index) => from.number + 1 + index);
  const requests = numbers.map((number) => ({
    method: "eth_getBlockByNumber",
    params: [toQuantity(number), false],
  }));
  const between = (await rpc.batch(requests)).map((answer) => parseBlock(rpc.host, answer));
  const all = [...between.filter((header) => header !== undefined), to];
  const linked = all.every((header, index) => header.parentHash === (index === 0 ? from : all[index - 1])?.hash);
  return all.length === count && linked ? all : undefined;
}

function watchOf(host: string, header: BlockHeader, answer: unknown): MayHaveLogged {
  if (answer instanceof RpcError) throw answer;
  const parsed = logsSchema.safeParse(answer);
  if (!parsed.success) throw malformedAnswer(host, "the node's logs of a block are malformed");
  const logs = parsed.data;
  if (logs.some(({ blockHash }) => blockHash !== null && blockHash.toLowerCase() !== header.hash.toLowerCase()))
    return EVERYBODY;
  const keys = logs.flatMap(({ address, topics }) => [address, `${address}${topics[1] ?? ""}`]);
  const loggers = new Set(keys.map((key) => key.toLowerCase()));
  // Some machines know the block and not yet its logs; then its bloom, which was not silent, is believed.
  if (loggers.size === 0 && isComputed(header.logsBloom)) return EVERYBODY;
  return (address, subject) => loggers.has(`${address}${subject ?? ""}`);
}
