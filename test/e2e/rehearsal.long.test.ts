import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createJsonRpc } from "../../src/chain/json-rpc.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { base } from "../../src/networks/base.ts";
import { startForeignChain } from "../support/foreign-chain.ts";
import { run } from "./support/swapd.ts";

/** Of a wallet that is watched on paper: there is no key of it anywhere. */
const WATCHED = toAddress("0x8ba1f109551bd432803012645ac136ddd64dba72");

test("a user's own configuration is rehearsed on a fork of his chain, with a funded copy of his wallet, and nothing reaches the chain", {
  timeout: 300_000,
}, async () => {
  const chain = await startForeignChain(base);
  onTestFinished(() => chain.stop());
  const home = mkdtempSync(join(tmpdir(), "swapd-rehearsal-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, "swapd.yaml");
  const env = { RPC_1: chain.rpcUrl };
  const wallet = ["--wallet", WATCHED];
  const made = await run(
    home,
    [
      "init",
      "--dir",
      home,
      "--yes",
      "--network",
      "base",
      "--sell",
      "25 USDC",
      "--buy",
      "WETH",
      "--at",
      "every 24h",
      ...wallet,
    ],
    env,
  );
  expect(made, `${made.out}${made.err}`).toMatchObject({ code: 0 });
  const before = readFileSync(file, "utf8");
  await chain.fund(WATCHED, { native: 1n, dollars: 400n });
  const rpc = createJsonRpc({ url: chain.rpcUrl, timeoutMs: 10_000, maxBytes: 1_000_000 });
  const sent = async () => await rpc.call("eth_getBlockTransactionCountByNumber", ["latest"]);

  const rehearsed = await run(
    home,
    ["sandbox", "--config", file, "--fork-url", "env:RPC_1", "--fund", "100 USDC", "--port", "0", "--for", "40s"],
    env,
  );
  expect(rehearsed, `${rehearsed.out}${rehearsed.err}`).toMatchObject({ code: 0 });
  expect(rehearsed.out).toContain("live on a fork of base");
  expect(rehearsed.out).toMatch(/wallet +main: a copy of 0x8ba1f109551bd432803012645ac136ddd64dba72 with .*500 USDC/i);
  expect(rehearsed.out).toMatch(/buy-weth +self-executed +25 USDC -> 0\.\d+ WETH/);
  expect(rehearsed.out).toMatch(/[1-9]\d* swaps? filled/);
  const read = async (...command: string[]) => await run(home, [...command, "--config", file], env);
  const fork = "of the last rehearsal: live on a fork, and nothing of it is on the network";
  const history = await read("history", "--rehearsal");
  expect(history).toMatchObject({ code: 0, out: expect.stringContaining(fork) });
  expect(history.out).toMatch(/buy-weth +filled .*25 USDC/);
  const why = await read("why", "buy-weth", "--rehearsal");
  expect(why).toMatchObject({ code: 0, out: expect.stringContaining(fork) });
  expect(why.out).toContain(join(home, ".swapd", "rehearsal", "swapd.db"));
  expect(await read("history")).toMatchObject({ code: 1, err: expect.stringContaining("has not run yet") });
  expect(readFileSync(file, "utf8")).toBe(before);
  expect(await sent()).toBe("0x0");
  expect(await rpc.call("eth_getTransactionCount", [WATCHED, "latest"])).toBe("0x0");
});
