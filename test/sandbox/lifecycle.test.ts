import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findAnvil } from "../../src/sandbox/anvil-binary.ts";
import { createRpc } from "../../src/sandbox/rpc.ts";
import { STATE_FILE, startSandbox } from "../../src/sandbox/sandbox.ts";
import { isListening, portOf, processesOfPort, until } from "./chain-reader.ts";

const script = fileURLToPath(new URL("sandbox-process.ts", import.meta.url));
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "swapd-sandbox-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

async function spawnSandbox(): Promise<{ parent: ChildProcess; nextLine: () => Promise<string>; rpcUrl: string }> {
  const parent = spawn(process.execPath, [script, directory], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  const lines = createInterface({ input: parent.stdout! })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  return { parent, nextLine, rpcUrl: await nextLine() };
}

it("leaves no chain behind when its parent is killed, and the chain still saves its state", async () => {
  const { parent, rpcUrl } = await spawnSandbox();
  const port = portOf(rpcUrl);
  expect(await isListening(port)).toBe(true);
  expect(processesOfPort(port).length).toBeGreaterThanOrEqual(2);
  parent.kill("SIGKILL");
  await until(async () => !(await isListening(port)));
  await until(() => processesOfPort(port).length === 0);
  expect(existsSync(join(directory, STATE_FILE))).toBe(true);
});

it("outlives a ctrl-C that its parent survives, so that the parent can finish on a living chain", async () => {
  const { parent, nextLine, rpcUrl } = await spawnSandbox();
  // What a terminal does: the signal goes to the whole process group.
  process.kill(-parent.pid!, "SIGINT");
  expect(await nextLine()).toBe("interrupted");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(Number(await createRpc(rpcUrl).call("eth_chainId"))).toBe(31337);
  parent.kill("SIGKILL");
  await until(async () => !(await isListening(portOf(rpcUrl))));
});

it("says that the chain died instead of going on without one", async () => {
  const sandbox = await startSandbox({ directory, port: 0, blockTimeSeconds: 1, seed: 1, market: true });
  const port = portOf(sandbox.world.rpcUrl);
  for (const id of processesOfPort(port, findAnvil())) process.kill(id, "SIGKILL");
  const error = await sandbox.failed;
  expect(error.message).toContain("anvil");
  await sandbox.stop();
  // The launcher's watch on its parent ends after it, a moment later.
  await until(() => processesOfPort(port).length === 0);
});

it("refuses a port that something else listens on, by number", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const refusal = startSandbox({ directory, port, blockTimeSeconds: 1, seed: 1, market: false });
  await expect(refusal).rejects.toMatchObject({ code: "PORT_IN_USE", message: expect.stringContaining(String(port)) });
  other.close();
});

it("does not take a stopped sandbox's state for a fresh one", async () => {
  const options = { directory, port: 0, blockTimeSeconds: 1, seed: 1, market: false, mining: false };
  const first = await startSandbox(options);
  await first.market.step();
  await first.stop();
  const second = await startSandbox({ ...options, seed: 2 });
  expect(Number(await createRpc(second.world.rpcUrl).call("eth_blockNumber"))).toBe(24);
  expect(second.world.market.seed).toBe(2);
  await second.stop();
});

it("refuses a state whose world is missing instead of guessing addresses", async () => {
  const options = { directory, port: 0, blockTimeSeconds: 1, seed: 1, market: false, mining: false };
  const first = await startSandbox(options);
  await first.stop();
  rmSync(join(directory, "world.json"));
  const refusal = startSandbox({ ...options, stateFile: join(directory, STATE_FILE) });
  await expect(refusal).rejects.toMatchObject({ code: "STATE_UNREADABLE" });
});
