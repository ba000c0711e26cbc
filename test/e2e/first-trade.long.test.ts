import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { toAddress } from "../../src/domain/money/address.ts";
import { base } from "../../src/networks/base.ts";
import { startForeignChain } from "../support/foreign-chain.ts";
import { makeFolder, run, start, until } from "./support/swapd.ts";

const swaps = z.object({
  runs: z.array(
    z.object({
      reason: z.string().nullable(),
      swaps: z.array(z.object({ state: z.string(), mode: z.string().nullable(), bought: z.string().nullable() })),
    }),
  ),
});

/** From an empty folder, with nothing of ours on the chain. Ten minutes are what a person may need; a script is faster. */
const WITHIN_MS = 180_000;

test("a first trade by the commands of the README, on a chain like Base where no contract of ours stands", {
  timeout: WITHIN_MS,
}, async () => {
  const chain = await startForeignChain(base);
  onTestFinished(() => chain.stop());
  const { path: folder, remove } = makeFolder();
  onTestFinished(remove);
  const env = { SWAPD_RPC_URL: chain.rpcUrl };
  const swapd = async (...args: readonly string[]) => {
    const ended = await run(folder, args, env);
    expect(ended, `swapd ${args.join(" ")}: ${ended.out}${ended.err}`).toMatchObject({ code: 0 });
    return ended.out;
  };
  const history = async () => swaps.parse(JSON.parse(await swapd("history", "--json"))).runs;

  const made = await swapd("init", "--yes", "--new-wallet", "--network", "base", "--sell", "25 USDC", "--buy", "WETH");
  const wallet = toAddress(/0x[0-9a-fA-F]{40}/.exec(made)?.[0] ?? "");
  await chain.fund(wallet, { native: 1n, dollars: 100n });
  expect(await swapd("check")).not.toContain("PROBLEM");
  await swapd("plan");

  const daemon = async (wanted: string, isThere: () => Promise<boolean>): Promise<void> => {
    const started = start(folder, ["start", "--for", "2m"], env);
    try {
      await until(
        "the daemon is up",
        { process: started, withinMs: 30_000 },
        async () => (await run(folder, ["run", "buy-weth", "--extra"], env)).code === 0,
      );
      await until(wanted, { process: started, withinMs: 60_000 }, isThere);
    } finally {
      started.process.kill("SIGTERM");
      await started.ended;
    }
  };
  await daemon("the dry run has judged a slot", async () =>
    (await history()).some(({ reason }) => reason === "dry_run"),
  );

  const file = join(folder, "swapd.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("mode: dry-run", "mode: live"));
  await daemon("a final swap", async () =>
    (await history()).some(({ swaps }) => swaps.some(({ state }) => state === "final")),
  );
  const [filled] = (await history()).flatMap(({ swaps }) => swaps.filter(({ state }) => state === "final"));
  expect(filled?.mode).toBe("self-executed");
  expect(BigInt(filled?.bought ?? 0n)).toBeGreaterThan(0n);
  expect(await swapd("audit")).toContain("No difference");
});
