import { z } from "zod";
import { createRpc } from "../../../src/sandbox/rpc.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import type { SandboxPool } from "../../../src/sandbox/world.ts";

type World = Sandbox["world"];
type TokenSymbol = keyof World["tokens"];

const LATEST_ROUND_DATA = "0xfeaf968c";
const SLOT0 = "0x3850c7bd";
const GET_RESERVES = "0x0902f1ac";

/** What the feeds say now, in the order of the symbols, with eight decimals. */
export async function feedPrices(
  { rpcUrl, tokens }: World,
  symbols: readonly TokenSymbol[],
): Promise<readonly string[]> {
  const rpc = createRpc(rpcUrl);
  const answers = await rpc.batch(
    symbols.map((symbol) => ({
      ...{ method: "eth_call", params: [{ to: tokens[symbol].feed, data: LATEST_ROUND_DATA }, "latest"] },
    })),
  );
  return answers.map((answer) => {
    const raw = BigInt(`0x${z.string().parse(answer).slice(66, 130)}`);
    return `${raw / 10n ** 8n}.${(raw % 10n ** 8n).toString().padStart(8, "0")}`;
  });
}

/** What the first token of a pair costs in the second one in a pool as it stands now, before its fee. */
async function priceIn(
  { rpcUrl, tokens }: World,
  { kind, address, token0, token1 }: SandboxPool,
  base: string,
): Promise<number> {
  const call = { to: address, data: kind === 1 ? GET_RESERVES : SLOT0 };
  const answer = z.string().parse(await createRpc(rpcUrl).call("eth_call", call, "latest"));
  const [one, two] = [2, 66].map((start) => Number(BigInt(`0x${answer.slice(start, start + 64)}`)));
  const ratio = kind === 1 ? (two ?? 0) / (one ?? 0) : ((one ?? 0) / 2 ** 96) ** 2;
  const price = ratio * 10 ** (tokens[token0].decimals - tokens[token1].decimals);
  return token0 === base ? price : 1 / price;
}

/** Pools of two tokens, as "WETH/USDC", that keep a fee, in parts of a million. */
export function poolsOf({ pools }: World, pair: string, pips: number): readonly SandboxPool[] {
  return pools.filter(
    ({ feePips, token0, token1 }) => feePips === pips && [`${token0}/${token1}`, `${token1}/${token0}`].includes(pair),
  );
}

/** Where pools of one fee are there twice, that of V2 and that of V3, the cheaper one counts: who buys goes there. */
export async function poolPrice(world: World, pair: string, pips: number): Promise<string> {
  const [base = ""] = pair.split("/");
  const prices = await Promise.all(poolsOf(world, pair, pips).map((pool) => priceIn(world, pool, base)));
  return Math.min(...prices).toFixed(12);
}
