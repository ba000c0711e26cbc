import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { encryptKeystoreJsonSync, Wallet } from "ethers";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { createJsonRpc } from "../../src/chain/json-rpc.ts";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { makeFolder, run, type Started, start, until } from "../e2e/support/swapd.ts";
import { startBareAnvil } from "../support/anvil.ts";
import { readDryExample } from "../support/example-file.ts";
import { startHttpServer } from "../support/http-server.ts";

const WITHIN_MS = 60_000;
/** Before a call to an endpoint in silence is given up. */
const HEALTHY_WITHIN_MS = 9_000;

let folder: ReturnType<typeof makeFolder>;
let file: string;
beforeEach(() => {
  folder = makeFolder();
  file = join(folder.path, "config/swapd.yaml");
});
afterEach(() => folder.remove());

it("ends with 78 where a file must be changed, and says what", async () => {
  writeFileSync(file, "version: 2\n");
  expect(await run(folder.path, ["start", "--config", file])).toMatchObject({
    code: 78,
    err: expect.stringContaining("version"),
  });
});

it("with --wait stays up and unwell, says once what to change, and reads the files again when they change", async () => {
  const port = await claimPort(0);
  const health = `http://127.0.0.1:${port}/healthz`;
  writeFileSync(file, "version: 2\n");
  const env = { SWAPD_HEALTH_URL: health, RPC_1: "http://127.0.0.1:1", RPC_2: "http://127.0.0.1:1" };
  const daemon = start(folder.path, ["start", "--wait", "--config", file], env);
  let errors = "";
  daemon.process.stderr?.on("data", (chunk: Buffer) => {
    errors += String(chunk);
  });
  await until("it is unwell", { process: daemon, withinMs: WITHIN_MS }, async () => (await problemAt(health)) !== "");
  expect(await problemAt(health)).toContain("version");
  expect(count(errors, "change that; the daemon waits")).toBe(1);

  writeFileSync(file, "version: 1\nnonsense: true\n");
  const isReadAgain = async (): Promise<boolean> => (await problemAt(health)).includes("nonsense");
  await until("the file is read again", { process: daemon, withinMs: WITHIN_MS }, isReadAgain);
  expect(count(errors, "change that; the daemon waits")).toBe(2);

  writeFileSync(file, goodFile(port));
  const isUp = async (): Promise<boolean> => (await statusAt(health)) === 200;
  await until("the daemon is up", { process: daemon, withinMs: WITHIN_MS }, isUp);
  expect(count(errors, "change that; the daemon waits")).toBe(2);
  await stopped(daemon);
});

it("says what kept a stop from its last row, and ends with the code of that", async () => {
  const port = await claimPort(0);
  writeFileSync(file, goodFile(port));
  const daemon = start(folder.path, ["start", "--config", file], {
    RPC_1: "http://127.0.0.1:1",
    RPC_2: "http://127.0.0.1:1",
  });
  const isUp = async (): Promise<boolean> => (await statusAt(`http://127.0.0.1:${port}/healthz`)) === 200;
  await until("the daemon is up", { process: daemon, withinMs: WITHIN_MS }, isUp);
  const db = openDatabase({ file: join(folder.path, "swapd.db") });
  db.exec("CREATE TRIGGER broken BEFORE INSERT ON daemon_events BEGIN SELECT RAISE(ABORT, 'it is broken'); END");
  db.close();
  daemon.process.kill("SIGTERM");
  const { code, err } = await daemon.ended;
  expect([code, err]).toEqual([70, expect.stringContaining("the daemon stops, the next start recovers: ")]);
  expect(err).toContain("it is broken");
});

it("waits for a node that has the chain and knows no contract yet, as one that catches up", async () => {
  const hourAgo = Math.floor(Date.now() / 1_000) - 3_600;
  const node = await startBareAnvil({ chainId: 8_453, flags: ["--timestamp", String(hourAgo)], onDemand: true });
  onTestFinished(node.stop);
  const port = await claimPort(0);
  writeFileSync(file, goodFile(port));
  const daemon = start(folder.path, ["start", "--config", file], { RPC_1: node.rpcUrl, RPC_2: node.rpcUrl });
  const isUp = async (): Promise<boolean> => (await statusAt(`http://127.0.0.1:${port}/healthz`)) === 200;
  await until("the daemon is up", { process: daemon, withinMs: WITHIN_MS }, isUp);
  await sleep(8_000);
  expect(await statusAt(`http://127.0.0.1:${port}/healthz`)).toBe(200);
  expect(await statusAt(`http://127.0.0.1:${port}/readyz`)).toBe(503);
  await stopped(daemon);
});

it("ends with 78 where another contract stands at the settlement's address, and says what is different", async () => {
  const node = await startBareAnvil({ chainId: 8_453, onDemand: true });
  onTestFinished(node.stop);
  // Whatever is asked, a token answers its decimals, and so does what stands in the settlement's place.
  const answering = (number: string): string => `0x60${number}60005260206000f3`;
  const rpc = createJsonRpc({ url: node.rpcUrl, timeoutMs: 10_000, maxBytes: 1_000_000 });
  writeFileSync(file, goodFile(await claimPort(0)));
  const tokens = readFileSync(file, "utf8").matchAll(/address: "(0x[0-9a-fA-F]{40})", decimals: (\d+)/g);
  for (const [, address, decimals] of tokens) {
    await rpc.call("anvil_setCode", [address, answering(Number(decimals).toString(16).padStart(2, "0"))]);
  }
  await rpc.call("anvil_setCode", [`0x${"11".repeat(20)}`, answering("06")]);
  const daemon = start(folder.path, ["start", "--config", file], { RPC_1: node.rpcUrl, RPC_2: node.rpcUrl });
  expect(await Promise.race([daemon.ended, sleep(WITHIN_MS)])).toMatchObject({
    code: 78,
    err: expect.stringContaining("the settlement's wrapped native"),
  });
});

it("is healthy soon while its endpoints take every call and answer none", async () => {
  const { url } = await startHttpServer(() => undefined);
  const port = await claimPort(0);
  writeFileSync(file, goodFile(port));
  const beganMs = performance.now();
  const daemon = start(folder.path, ["start", "--config", file], { RPC_1: url, RPC_2: url });
  const isUp = async (): Promise<boolean> => (await statusAt(`http://127.0.0.1:${port}/healthz`)) === 200;
  await until("the daemon is up", { process: daemon, withinMs: WITHIN_MS }, isUp);
  expect(performance.now() - beganMs).toBeLessThan(HEALTHY_WITHIN_MS);
  await stopped(daemon);
});

/** The shipped example, dry, with a wallet of its own, behind a node that is away. */
function goodFile(port: number): string {
  const { address, privateKey } = Wallet.createRandom();
  const keystore = encryptKeystoreJsonSync({ address, privateKey }, "a password", { scrypt: { N: 2 } });
  writeFileSync(join(folder.path, "wallet.json"), keystore, { mode: 0o600 });
  writeFileSync(join(folder.path, "wallet.pass"), "a password\n", { mode: 0o600 });
  return readDryExample(folder.path)
    .replaceAll("/run/secrets", folder.path)
    .replace("url: embedded", 'url: embedded, settlement: "0x1111111111111111111111111111111111111111"')
    .replace("/data/swapd.db", join(folder.path, "swapd.db"))
    .replace("serve: { database: /data/service.db", `serve: { listen: 127.0.0.1:0, database: ${folder.path}/service.db`)
    .replace("listen: 0.0.0.0:9464", `listen: 127.0.0.1:${port}`);
}

async function statusAt(url: string): Promise<number> {
  try {
    return (await fetch(url)).status;
  } catch (error) {
    if (error instanceof TypeError) return 0;
    throw error;
  }
}

/** What the daemon's health says is in the way; empty while nobody answers. */
async function problemAt(health: string): Promise<string> {
  try {
    const answer = await fetch(health);
    expect(answer.status).toBe(503);
    return String(((await answer.json()) as { problem: unknown }).problem);
  } catch (error) {
    if (error instanceof TypeError) return "";
    throw error;
  }
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

async function stopped(daemon: Started): Promise<void> {
  daemon.process.kill("SIGTERM");
  expect((await daemon.ended).code).toBe(0);
}
