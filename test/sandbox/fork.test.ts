import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { loadContract } from "../../src/sandbox/artifacts.ts";
import { buildWorld } from "../../src/sandbox/build-world.ts";
import { ETHEREUM } from "../../src/sandbox/fork.ts";
import { startForkedChain } from "../../src/sandbox/forked-chain.ts";
import { SYMBOLS, WALLET_FUNDS } from "../../src/sandbox/plan.ts";
import { createRpc, type Rpc } from "../../src/sandbox/rpc.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { startBareAnvil } from "../support/anvil.ts";
import { balanceOf, portOf, processesOfPort, view } from "./chain-reader.ts";

const directory = mkdtempSync(join(tmpdir(), "swapd-fork-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const options = { directory, port: 0, blockTimeSeconds: 0.25, seed: 1, market: false };

/** Puts our tokens' and factories' code where Ethereum has its own: as much of it as a fork touches. */
async function dressAsEthereum(rpc: Rpc): Promise<void> {
  const world = await buildWorld(rpc, 1, () => undefined);
  const pairs = SYMBOLS.flatMap((symbol) => [
    [world.tokens[symbol].address, ETHEREUM.tokens[symbol]],
    [world.tokens[symbol].feed, ETHEREUM.feeds[symbol]],
  ]);
  for (const { kind, factory } of world.protocols) {
    const stands = ETHEREUM.protocols.find((protocol) => protocol.kind === kind);
    if (stands !== undefined) pairs.push([factory, stands.factory]);
  }
  for (const [from, to] of pairs) await rpc.call("anvil_setCode", to, await rpc.call("eth_getCode", from, "latest"));
}

it("funds the wallet in the forked chain's own tokens and deploys the settlement there", async () => {
  const origin = await startBareAnvil({ chainId: 1, onDemand: true });
  await dressAsEthereum(origin.rpc);
  // As if pools of the second kind were traded with as the executor's first kind is, and it knew no others.
  const executorKind = (kind: number) => (kind === 1 || kind === 2 ? 1 : undefined);
  const sandbox = await startSandbox({ ...options, forkUrl: origin.rpcUrl, executorKind });
  const { world } = sandbox;
  // Not the chain id of the fork's origin: signatures made here must be worthless there.
  expect(world.chainId).toBe(31337);
  expect(world.tokens.USDC.address).toBe("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");
  for (const symbol of SYMBOLS) {
    const { address, decimals } = world.tokens[symbol];
    expect(await balanceOf(world.rpcUrl, address, world.wallet.address)).toBe(
      WALLET_FUNDS[symbol] * 10n ** BigInt(decimals),
    );
  }
  const code = await createRpc(world.rpcUrl).call("eth_getCode", world.settlement, "latest");
  expect(String(code).length).toBeGreaterThan(1000);
  expect(world.protocols).toEqual(ETHEREUM.protocols);
  const executor = { to: world.executor, method: "protocols", values: [1] };
  expect((await view(world.rpcUrl, loadContract("SwapdExecutor"), executor))[0]).toBe(1n);
  await sandbox.stop();
  await origin.stop();
});

it("shows the key in the endpoint's URL to no list of processes, and to no page in a browser", async () => {
  const origin = await startBareAnvil({ chainId: 4242 });
  const forkUrl = `${origin.rpcUrl}/?key=c4n4ry,"{b}"`;
  const chain = await startForkedChain({
    forkUrl,
    chainId: 4242,
    port: 0,
    blockTimeSeconds: 1,
    onError: () => undefined,
  });
  const { url } = chain.rpc;
  expect(JSON.stringify(await chain.rpc.call("anvil_nodeInfo")), "it is forked from there").toContain("c4n4ry");
  const words = processesOfPort(portOf(url)).map((id) => readFileSync(`/proc/${id}/cmdline`, "utf8"));
  expect(words.length).toBeGreaterThanOrEqual(2);
  expect(words.join("\n")).not.toContain("c4n4ry");
  const asked = { Origin: "https://page.example", "Access-Control-Request-Method": "POST" };
  const headers = { ...asked, "Access-Control-Request-Headers": "content-type" };
  const preflight = await fetch(url, { method: "OPTIONS", headers });
  expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  await chain.stop();
  await origin.stop();
});

it("names the host and hides the key when the endpoint does not answer", async () => {
  const refusal = startSandbox({ ...options, forkUrl: "http://127.0.0.1:1/v2/very-secret-key" });
  const error = await refusal.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: "FORK_UNREACHABLE" });
  expect(String(error)).toContain("127.0.0.1:1");
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("very-secret-key");
});

it("refuses a chain whose tokens it does not know, by number", async () => {
  const origin = await startBareAnvil({ chainId: 4242 });
  const refusal = startSandbox({ ...options, forkUrl: origin.rpcUrl });
  await expect(refusal).rejects.toMatchObject({ code: "FORK_UNSUPPORTED", message: expect.stringContaining("4242") });
  await origin.stop();
});
