import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { makeFolder, run, type Started, start, until } from "./support/swapd.ts";

/**
 * The examples in a market that stands still: what `plan` says beforehand is what `start` then does. Each strategy gets an
 * instant of its own, so that the order in which they meet in the wallet is the plan's. A mix weighs the whole wallet and
 * changes most of it: what comes before one and after one is given the time until its swap is over, its approval included.
 * All others sell fixed amounts, which nobody's lateness changes, and come last but for one.
 */
const SECONDS_BESIDE_A_MIX = 10;
const SECONDS_BETWEEN = 2;
const LEAD_SECONDS = 20;

interface World {
  readonly rpcUrl: string;
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly wallet: { readonly privateKey: string };
}

interface PlannedSlot {
  readonly strategy: string;
  readonly slot: string;
  readonly decision: string;
  readonly reason: string | null;
  readonly swaps: readonly { sell: string; buy: string; amount: string; expected: string }[];
}

interface DoneRun {
  readonly strategy: string;
  readonly slot: string;
  readonly state: string;
  readonly reason: string | null;
  readonly swaps: readonly {
    state: string;
    sold: string;
    bought: string;
    sell: { symbol: string };
    buy: { symbol: string };
  }[];
}

const folder = makeFolder();
const examples = join(folder.path, "strategies", "examples");
const isMix = (name: string): boolean => readFileSync(join(examples, name), "utf8").includes("kind: rebalance");
const files = readdirSync(examples).filter((name) => name.endsWith(".yaml"));
const [first = "", ...others] = files.filter((name) => !isMix(name));
const strategies = [first, ...files.filter(isMix), ...others];
let sandbox: Started;
let daemon: Started | undefined;
let planned: readonly PlannedSlot[];
let done: readonly DoneRun[];

/** Gives each example its own instant in a schedule that comes around only once while we watch. @returns when all began */
function reschedule(firstMs: number): number {
  let atMs = firstMs;
  for (const [index, name] of strategies.entries()) {
    const anchor = new Date(atMs).toISOString().replace(".000Z", "Z");
    const next = strategies[index + 1];
    const isBesideAMix = isMix(name) || (next !== undefined && isMix(next));
    atMs += (isBesideAMix ? SECONDS_BESIDE_A_MIX : SECONDS_BETWEEN) * 1_000;
    const document = parseDocument(readFileSync(join(examples, name), "utf8"));
    if (document.get("kind") === "twap") {
      document.set("start", anchor);
      document.set("randomize", { size: "20%" });
    } else {
      document.set("schedule", { every: "2m", anchor });
      for (const key of ["start", "retry_for", "catch_up"]) document.delete(key);
    }
    writeFileSync(join(examples, name), document.toString());
  }
  return atMs;
}

function writeConfiguration(world: World): string {
  const file = join(folder.path, "config", "plan.yaml");
  const text = readFileSync(join(folder.path, "config", "sandbox.yaml"), "utf8")
    .replace("url: embedded", `url: "${world.serviceUrl}", apiKey: { env: SWAPD_SANDBOX_API_KEY }`)
    .replace(/^serve:[\s\S]*?(?=^timing:)/m, "")
    .replace("../strategies/sandbox", "../strategies/examples")
    .replace("sandbox.policy.yaml", "plan.policy.yaml")
    .replaceAll("../.swapd/sandbox/swapd.db", "../plan.db")
    .replace("127.0.0.1:9464", "127.0.0.1:0");
  writeFileSync(file, text);
  // The gas reserve that the examples are written for; and the price of gas, which moves with every block, decides nothing.
  const policy = readFileSync(join(folder.path, "config", "sandbox.policy.yaml"), "utf8");
  const own = policy.replace('gas_reserve: "1 ETH"', 'gas_reserve: "0.01 ETH"').replace("max_fee: 3%", "max_fee: 30%");
  writeFileSync(join(folder.path, "config", "plan.policy.yaml"), own);
  return file;
}

beforeAll(async () => {
  sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--no-market", "--port", "0"]);
  const world = JSON.parse(await sandbox.firstLine) as World;
  const file = writeConfiguration(world);
  const env = {
    SWAPD_SANDBOX_RPC: world.rpcUrl,
    SWAPD_SANDBOX_API_KEY: world.apiKey,
    SWAPD_SANDBOX_WALLET_KEY: world.wallet.privateKey,
  };
  const firstMs = Math.ceil(Date.now() / 1_000) * 1_000 + LEAD_SECONDS * 1_000;
  const begunMs = reschedule(firstMs);
  const answer = await run(folder.path, ["plan", "--config", file, "--slots", "1", "--json"], env);
  planned = (JSON.parse(answer.out || "{}") as { slots?: readonly PlannedSlot[] }).slots ?? [];
  expect(planned.length, `${answer.out}${answer.err}`).toBe(strategies.length);
  daemon = start(folder.path, ["start", "--config", file], env);
  const history = async (): Promise<readonly DoneRun[]> => {
    const { out } = await run(folder.path, ["history", "--config", file, "--json"], env);
    return (JSON.parse(out || '{"runs":[]}') as { runs: readonly DoneRun[] }).runs;
  };
  const isOver = (run: DoneRun): boolean => ["filled", "partial", "skipped", "failed"].includes(run.state);
  await until(
    "the daemon is up",
    { process: daemon, withinMs: 30_000 },
    () => daemon?.output().includes("statusUrl") === true,
  );
  expect(Date.now(), "the daemon was up before the first slot").toBeLessThan(firstMs);
  await until("every strategy's slot is over", { process: daemon, withinMs: 120_000 }, async () => {
    if (Date.now() < begunMs) return false;
    done = await history();
    return done.length === strategies.length && done.every(isOver);
  });
}, 240_000);

afterAll(async () => {
  daemon?.process.kill("SIGTERM");
  await daemon?.ended;
  sandbox.process.kill("SIGTERM");
  await sandbox.ended;
  folder.remove();
});

describe("swapd plan on the examples, in a market that stands still", () => {
  it("says beforehand what start then does: instant, decision, tokens, amount sold, reason", () => {
    const said = planned.map(({ strategy, slot, decision, reason, swaps }) => ({
      ...{ strategy, slot, reason: decision === "swap" ? null : reason },
      swaps: swaps.map(({ sell, buy, amount }) => `${amount} ${sell} -> ${buy}`),
    }));
    const did = done.map(({ strategy, slot, reason, swaps }) => ({
      ...{ strategy, slot, reason },
      swaps: swaps.map(({ sold, sell, buy }) => `${sold} ${sell.symbol} -> ${buy.symbol}`),
    }));
    const bySlot = (a: { slot: string }, b: { slot: string }): number => a.slot.localeCompare(b.slot);
    expect(did.sort(bySlot)).toEqual(said.sort(bySlot));
    expect(said.some(({ swaps }) => swaps.length > 0)).toBe(true);
    expect(said.some(({ swaps }) => swaps.length === 0)).toBe(true);
  });

  it("expects what is then bought, within the price impact of one percent that the strategies allow", () => {
    for (const slot of planned) {
      const ran = done.find((run) => run.strategy === slot.strategy);
      for (const [index, swap] of slot.swaps.entries()) {
        const bought = BigInt(ran?.swaps[index]?.bought ?? 0);
        const expected = BigInt(swap.expected);
        const off = bought > expected ? bought - expected : expected - bought;
        expect(off * 100n, `${slot.strategy} ${bought} for ${expected}`).toBeLessThanOrEqual(expected);
      }
    }
  });
});
