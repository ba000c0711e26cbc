import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createJsonRpc } from "../../src/chain/json-rpc.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { base } from "../../src/networks/base.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { startForeignChain } from "../support/foreign-chain.ts";
import { run, start, until } from "./support/swapd.ts";

const ANSWERS = ["--yes", "--network", "base", "--sell", "25 USDC", "--buy", "WETH", "--at", "every 10s"];

const history = z.object({
  runs: z.array(
    z.object({ id: z.string(), swaps: z.array(z.object({ state: z.string(), bought: z.string().nullable() })) }),
  ),
});

test("where Slipstream's pool pays most, the daemon trades through Slipstream's router, and the audit agrees", {
  timeout: 600_000,
}, async () => {
  const chain = await startForeignChain(base, { withSlipstream: true });
  onTestFinished(() => chain.stop());
  const home = mkdtempSync(join(tmpdir(), "swapd-slip-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, "swapd");
  const file = join(folder, "swapd.yaml");
  const env = { RPC_1: chain.rpcUrl };
  const swapd = async (...args: readonly string[]) => {
    const ended = await run(home, args, env);
    expect(ended, `swapd ${args.join(" ")}: ${ended.out}${ended.err}`).toMatchObject({ code: 0 });
    return ended.out;
  };
  await swapd("init", "--dir", folder, ...ANSWERS);
  const made = await swapd("init", "--dir", folder, "--yes", "--wallet", "new");
  const wallet = toAddress(/0x[0-9a-fA-F]{40}/.exec(made)?.[0] ?? "");
  await chain.fund(wallet, { native: 1n, dollars: 900n });
  const router = base.furtherRouters[0]?.address ?? toAddress("0x");
  expect(await swapd("check", "--config", file)).toContain(`${router} is as the network's facts say`);
  await swapd("live", "--config", file, "--yes");
  const plan = JSON.parse(await swapd("plan", "--slots", "1", "--config", file, "--json"));
  expect(plan.approvals).toMatchObject([{ token: "USDC", spender: router }]);
  expect(plan.spenders).toEqual([base.router, ...base.furtherRouters.map(({ address }) => address)]);

  const runs = async () => {
    const { code, out } = await run(home, ["history", "--config", file, "--json"], env);
    // There is no database yet.
    return code === 0 ? history.parse(JSON.parse(out)).runs : [];
  };
  const finals = async () => (await runs()).flatMap(({ swaps }) => swaps.filter(({ state }) => state === "final"));
  const daemon = start(home, ["start", "--config", file, "--for", "8m"], env);
  try {
    await until("a final swap", { process: daemon, withinMs: 300_000 }, async () => (await finals()).length > 0);
  } finally {
    daemon.process.kill("SIGTERM");
    await daemon.ended;
  }
  const [final] = await finals();
  // The feeds say 3,000 dollars a coin, and Uniswap's pools do; Slipstream's asks for a hundredth less.
  expect(BigInt(final?.bought ?? 0n)).toBeGreaterThan((25n * 10n ** 18n) / 3_000n);

  const db = openDatabase({ file: join(folder, "swapd.db"), readonly: true });
  const all = (sql: string) => db.prepare<[], string>(sql).pluck().all();
  expect(all("SELECT DISTINCT to_address FROM lane_intents WHERE purpose = 'swap'")).toEqual([router]);
  expect(all("SELECT DISTINCT spender FROM grants")).toEqual([router]);
  db.close();
  expect(await swapd("audit", "--config", file)).toContain("No difference");
  for (const { id } of await runs()) await swapd("replay", id, "--config", file);

  const rpc = createJsonRpc({ url: chain.rpcUrl, timeoutMs: 10_000, maxBytes: 1_000_000 });
  const data = `0x70a08231${router.slice(2).padStart(64, "0")}`;
  for (const address of [base.wrappedNative, base.tokens.get("USDC")?.address])
    expect(BigInt(String(await rpc.call("eth_call", [{ to: address, data }, "latest"]))), address).toBe(0n);
});
