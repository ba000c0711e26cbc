import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { toAddress } from "../../src/domain/money/address.ts";
import { base } from "../../src/networks/base.ts";
import { readCommands } from "../readme/readme-commands.ts";
import { startForeignChain } from "../support/foreign-chain.ts";
import { run, start, until } from "./support/swapd.ts";

const swaps = z.object({
  runs: z.array(
    z.object({
      swaps: z.array(z.object({ state: z.string(), mode: z.string().nullable(), bought: z.string().nullable() })),
    }),
  ),
});
type Swap = z.output<typeof swaps>["runs"][number]["swaps"][number];

const isFinal = ({ state }: Swap): boolean => state === "final";
const isFilled = ({ bought }: Swap): boolean => BigInt(bought ?? 0n) > 0n;

const NOBODY = 65_534;
/** What the README promises to a person, who is slower than a script. */
const PAPER_FILL_WITHIN_MS = 180_000;
const TRADE_WITHIN_MS = 600_000;
/** Instead of answers. A slot comes soon, so that the test need not wait for Monday. */
const ANSWERS = ["--yes", "--network", "base", "--sell", "25 USDC", "--buy", "WETH", "--at", "every 15s"];

/** The commands of "Trade for real" as the README has them, in their order, as arguments of swapd in a folder. */
function readmeCommands(folder: string): readonly (readonly string[])[] {
  const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
  const typed = readCommands(readme).map(({ text }) => text);
  const begin = typed.findIndex((text) => text.startsWith("export RPC_1="));
  expect(begin).toBeGreaterThan(0);
  return typed
    .slice(begin + 1)
    .filter((text) => text.startsWith("npx swapd ") && text.includes("~/swapd"))
    .map((text) => text.replaceAll("~/swapd", folder).split(" ").slice(2));
}

/** Where the configuration may only be read, as in a container, `swapd live` says what to write, and changes nothing. */
async function cannotGoLive(folder: string, env: Record<string, string>): Promise<void> {
  const identity = join(folder, "identity");
  const markers = readdirSync(identity).map((name) => join(identity, name));
  const secrets = [...["wallet.json", "wallet.pass"].map((name) => join(folder, name)), identity, ...markers];
  const owner = statSync(folder);
  const isRoot = owner.uid === 0;
  // The databases lie elsewhere, as in the container's volume.
  const volume = join(folder, "volume");
  mkdirSync(volume);
  for (const path of [...secrets, volume]) if (isRoot) chownSync(path, NOBODY, NOBODY);
  const file = join(folder, "swapd.yaml");
  const own = readFileSync(file, "utf8");
  const before = own.replaceAll(/\b(database: )(\w+\.db)/g, "$1volume/$2");
  writeFileSync(file, before);
  chmodSync(folder, 0o555);
  const refused = await run(
    folder,
    ["live", "--yes", "--config", file],
    env,
    join(import.meta.dirname, "support/unprivileged-process.ts"),
  );
  expect(refused, refused.err).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /cannot be written here \(EACCES\), and the file was not changed.*^mode: live +# dry-run/ms,
    ),
  });
  expect(readFileSync(file, "utf8")).toBe(before);
  chmodSync(folder, 0o755);
  writeFileSync(file, own);
  rmSync(volume, { recursive: true });
  for (const path of secrets) if (isRoot) chownSync(path, owner.uid, owner.gid);
}

test("a first fill on paper by the commands of the README, without a key, and then a first trade", {
  timeout: TRADE_WITHIN_MS,
}, async () => {
  // Like Base, and no contract of ours stands there.
  const chain = await startForeignChain(base);
  onTestFinished(() => chain.stop());
  const home = mkdtempSync(join(tmpdir(), "swapd-first-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  chmodSync(home, 0o755);
  const folder = join(home, "swapd");
  const [init, check, begin, history, newWallet, live, audit] = readmeCommands(folder);
  if (begin === undefined || history === undefined || audit === undefined)
    throw new Error("the README has too few commands");
  const env = { RPC_1: chain.rpcUrl };
  const swapd = async (args: readonly string[] = []) => {
    const ended = await run(home, args, env);
    expect(ended, `swapd ${args.join(" ")}: ${ended.out}${ended.err}`).toMatchObject({ code: 0 });
    return ended.out;
  };
  /** Starts it until a swap of its history is as wanted. */
  const traded = async (isWanted: (swap: Swap) => boolean): Promise<readonly Swap[]> => {
    const started = start(home, [...begin, "--for", "8m"], env);
    const read = async () => {
      const { code, out } = await run(home, [...history, "--json"], env);
      // There is no database yet.
      return code === 0
        ? swaps
            .parse(JSON.parse(out))
            .runs.flatMap((one) => one.swaps)
            .filter(isWanted)
        : [];
    };
    try {
      await until("a swap", { process: started, withinMs: 300_000 }, async () => (await read()).length > 0);
    } finally {
      started.process.kill("SIGTERM");
      await started.ended;
    }
    return await read();
  };

  const beganMs = performance.now();
  await swapd([...(init ?? []), ...ANSWERS]);
  expect(await swapd(check)).not.toContain("PROBLEM");
  await traded(isFilled);
  const paperMs = performance.now() - beganMs;
  expect(await swapd(history)).toMatch(/buy-weth +\w+ +\w+ +25 USDC +[\d.]+ WETH +[\d.]+ USDC for 1 WETH/);
  expect(paperMs).toBeLessThan(PAPER_FILL_WITHIN_MS);
  expect((await run(home, live ?? [], env)).code, "there is no key yet").toBe(1);

  const wallet = toAddress(/0x[0-9a-fA-F]{40}/.exec(await swapd(newWallet))?.[0] ?? "");
  await chain.fund(wallet, { native: 1n, dollars: 900n });
  await swapd(["plan", ...(check ?? []).slice(1)]);
  await cannotGoLive(folder, env);
  const file = join(folder, "swapd.yaml");
  const before = readFileSync(file, "utf8");
  expect((await run(home, live ?? [], env)).code, "nobody said yes").toBe(1);
  expect(readFileSync(file, "utf8")).toBe(before);
  const gone = await swapd([...(live ?? []), "--yes"]);
  expect(gone).toContain("at worst");
  expect(gone).toContain("is live now: mode: live");
  expect(readFileSync(file, "utf8")).toBe(before.replace("mode: paper ", "mode: live  "));
  const [final] = await traded(isFinal);
  const tradeMs = performance.now() - beganMs;
  expect(final?.mode).toBe("self-executed");
  expect(isFilled(final as Swap)).toBe(true);
  expect(await swapd(audit)).toContain("No difference");
  expect(tradeMs).toBeLessThan(TRADE_WITHIN_MS);
  console.log(
    `a fill on paper after ${Math.round(paperMs / 1_000)} s, a final trade after ${Math.round(tradeMs / 1_000)} s`,
  );
});
