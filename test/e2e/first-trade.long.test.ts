import { chmodSync, chownSync, readFileSync, statSync } from "node:fs";
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

/** Where the configuration may only be read, as in a container, `swapd live` says what to write, and changes nothing. */
async function cannotGoLive(folder: string, env: Record<string, string>): Promise<void> {
  const secrets = ["wallet.json", "wallet.pass"].map((name) => join(folder, name));
  const owner = statSync(folder);
  const isRoot = owner.uid === 0;
  for (const path of secrets) if (isRoot) chownSync(path, NOBODY, NOBODY);
  chmodSync(folder, 0o555);
  const file = join(folder, "swapd.yaml");
  const before = readFileSync(file, "utf8");
  const refused = await run(
    folder,
    ["live", "--yes"],
    env,
    join(import.meta.dirname, "support/unprivileged-process.ts"),
  );
  expect(refused, refused.err).toMatchObject({
    code: 1,
    err: expect.stringMatching(/cannot be written here \(EACCES\), and nothing was changed.*^mode: live +# dry-run/ms),
  });
  expect(readFileSync(file, "utf8")).toBe(before);
  chmodSync(folder, 0o755);
  for (const path of secrets) if (isRoot) chownSync(path, owner.uid, owner.gid);
}

const NOBODY = 65_534;

/** From an empty folder, with nothing of ours on the chain. Ten minutes are what a person may need; a script is faster. */
const WITHIN_MS = 600_000;

test("a first trade by the commands of the README, on a chain like Base where no contract of ours stands", {
  timeout: WITHIN_MS,
}, async () => {
  const chain = await startForeignChain(base);
  onTestFinished(() => chain.stop());
  const { path: folder, remove } = makeFolder();
  onTestFinished(remove);
  const env = { RPC_1: chain.rpcUrl };
  const swapd = async (...args: readonly string[]) => {
    const ended = await run(folder, args, env);
    expect(ended, `swapd ${args.join(" ")}: ${ended.out}${ended.err}`).toMatchObject({ code: 0 });
    return ended.out;
  };
  const history = async () => swaps.parse(JSON.parse(await swapd("history", "--json"))).runs;

  const trade = ["--network", "base", "--sell", "25 USDC", "--buy", "WETH", "--at", "every 1h"];
  const made = await swapd("init", "--yes", "--wallet", "new", ...trade);
  const wallet = toAddress(/0x[0-9a-fA-F]{40}/.exec(made)?.[0] ?? "");
  await chain.fund(wallet, { native: 1n, dollars: 100n });
  expect(await swapd("check")).not.toContain("PROBLEM");
  await swapd("plan");
  await cannotGoLive(folder, env);

  const daemon = async (wanted: string, isThere: () => Promise<boolean>): Promise<void> => {
    const started = start(folder, ["start", "--for", "5m"], env);
    try {
      await until(
        "the daemon is up",
        { process: started, withinMs: 120_000 },
        async () => (await run(folder, ["run", "buy-weth", "--extra"], env)).code === 0,
      );
      await until(wanted, { process: started, withinMs: 180_000 }, isThere);
    } finally {
      started.process.kill("SIGTERM");
      await started.ended;
    }
  };
  await daemon("the dry run has judged a slot", async () =>
    (await history()).some(({ reason }) => reason === "dry_run"),
  );

  const file = join(folder, "swapd.yaml");
  const before = readFileSync(file, "utf8");
  expect((await run(folder, ["live"], env)).code, "nobody said yes").toBe(1);
  expect(readFileSync(file, "utf8")).toBe(before);
  const gone = await swapd("live", "--yes");
  expect(gone).toContain("at worst");
  expect(gone).toContain("is live now: mode: live");
  expect(readFileSync(file, "utf8")).toBe(
    before.replace("mode: dry-run                        #", "mode: live                           #"),
  );
  await daemon("a final swap", async () =>
    (await history()).some(({ swaps }) => swaps.some(({ state }) => state === "final")),
  );
  const [filled] = (await history()).flatMap(({ swaps }) => swaps.filter(({ state }) => state === "final"));
  expect(filled?.mode).toBe("self-executed");
  expect(BigInt(filled?.bought ?? 0n)).toBeGreaterThan(0n);
  expect(await swapd("audit")).toContain("No difference");
});
