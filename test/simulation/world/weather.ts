import type { Faults } from "../faults.ts";
import { type ForeignWork, GWEI, type SimChain } from "./chain.ts";
import { ETH, STRANGER, TOKENS, units } from "./places.ts";
import { quickHash } from "./words.ts";

/** What happens to the chain by itself at each block: fees that rise, blocks that are full, forks, pools that forget. */
export function mineNext(chain: SimChain, faults: Faults, at: { monotonicMs: number; trueMs: number }): string {
  const { monotonicMs, trueMs } = at;
  const words: string[] = [];
  if (faults.strikes("chain: reorg", "block")) {
    const depth = faults.chance.between(1, chain.finality, "depth", chain.tip.number);
    const repools = !faults.lasts("chain: forgets", "reorg", monotonicMs);
    chain.reorganise(depth, repools);
    words.push(`takes back ${depth} blocks${repools ? "" : " and forgets what was in them"}`);
  }
  if (faults.strikes("chain: forgets", "pool")) chain.pool.clear();
  if (faults.strikes("wallet: deposits", "block")) words.push(deposit(chain, faults));
  const rises = faults.lasts("chain: fees rise", "base fee", monotonicMs);
  const window = Math.floor(monotonicMs / 60_000);
  const baseFee = rises ? BigInt(faults.chance.between(2, 70, "base fee", window)) * GWEI : GWEI;
  const isFull = faults.lasts("chain: full blocks", "blocks", monotonicMs);
  const block = chain.mine({ seconds: Math.floor(trueMs / 1_000), baseFee, isFull });
  words.push(
    `block ${block.number}: ${block.receipts.map(({ hash, succeeded }) => `${hash.slice(0, 10)} ${succeeded}`).join(", ")}`,
  );
  return words.join("; ");
}

/** the largest deposit, of what the wallet has of a token at the start */
const LARGEST_DEPOSIT = 0.05;

/** Somebody pays into the wallet: from outside its tokens come and go as they please. */
function deposit(chain: SimChain, { chance }: Faults): string {
  const { number, hash: parent } = chain.tip;
  const token = chance.pick([...TOKENS, ETH], "deposit of", parent);
  const amount = units(token, token.start * LARGEST_DEPOSIT * chance.of("deposit", parent));
  const hash = quickHash(`deposit on ${parent}`);
  const run: ForeignWork["run"] = (ledger) => ({
    logs: ledger.pay(token.address, { from: STRANGER, to: chain.wallet, amount }),
    orders: [],
  });
  chain.sendForeign({ hash, from: STRANGER, run });
  return `a deposit of ${amount} ${token.symbol} above ${number}`;
}

/** How far the wall clock is off now, in milliseconds. */
export function clockOffsetMs(faults: Faults, monotonicMs: number): number {
  if (!faults.lasts("clock: jumps", "wall clock", monotonicMs)) return 0;
  const window = Math.floor(monotonicMs / 60_000);
  return faults.chance.pick([-86_400, -3_600, -300, -40, -2, 2, 40, 300, 3_600, 86_400], "offset", window) * 1_000;
}
