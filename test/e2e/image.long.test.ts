import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { toAddress } from "../../src/domain/money/address.ts";
import { base } from "../../src/networks/base.ts";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { startReceiver } from "../support/alert-receiver.ts";
import { startForeignChain } from "../support/foreign-chain.ts";
import { enterImage, makeMounts, missingForImage, USER } from "./support/image.ts";
import { missingPrograms, startMonitoring } from "./support/monitoring.ts";

// The image itself, entered as compose.yaml would: its read-only root, its user, its environment and its command. What
// needs an engine is not tried: limits of memory and processes, published ports, restarts.

const root = process.env.SWAPD_IMAGE_ROOT ?? "";
const missing = [
  missingForImage(process.env.SWAPD_IMAGE_ROOT),
  ...missingPrograms(["unshare", "setpriv", "prometheus", "prometheus-alertmanager"]),
].filter((one) => one !== undefined);
const STOPS_WITHIN_MS = 10_000;
const MEMORY_MB = 512;
const PATIENT = { timeout: 60_000, interval: 250 };
const ANSWERS = ["--yes", "--network", "base", "--sell", "25 USDC", "--buy", "WETH", "--at", "every 15s"];

interface Shipped {
  readonly services: { readonly swapd: { readonly mem_limit: string } };
}

function environmentOfImage(): Record<string, string> {
  const dockerfile = readFileSync(join(import.meta.dirname, "../../Dockerfile"), "utf8");
  const found = [...dockerfile.matchAll(/^ENV (\w+)=(\S+)$/gm)];
  return Object.fromEntries(found.map(([, name = "", value = ""]) => [name, value]));
}

/** The image with its mounts, on a chain like Base with a receiver of messages. */
async function place() {
  const chain = await startForeignChain(base);
  onTestFinished(() => chain.stop());
  const folder = mkdtempSync(join(tmpdir(), "swapd-image-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const receiver = await startReceiver();
  const port = await claimPort(0);
  const mounts = makeMounts(folder);
  const env = {
    ...environmentOfImage(),
    ...{ RPC_1: chain.rpcUrl, HOOK_URL: receiver.url, HOOK_SECRET: "a secret that only the receiver has" },
    SWAPD_HEALTH_URL: `http://127.0.0.1:${port}/healthz`,
  };
  /** `docker compose run --rm`, with the configuration's folder writable where it is to be written. */
  const once = async (args: readonly string[], writesConfig = false): Promise<string> => {
    const { code, out } = await enterImage(root, { mounts, env, writesConfig }, ["swapd", ...args]).ended;
    expect(code, `swapd ${args.join(" ")}: ${out}`).toBe(0);
    return out;
  };
  return { chain, folder, receiver, port, mounts, env, once };
}

type Place = Awaited<ReturnType<typeof place>>;

/** What a person writes into swapd.yaml: where this machine has a port left, and where messages go. */
function edit({ mounts, port }: Place): void {
  const file = join(mounts.config, "swapd.yaml");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("0.0.0.0:9464");
  const hook = "alerts: { webhook: { url: { env: HOOK_URL }, secret: { env: HOOK_SECRET } }, fills: true }";
  const here = text.replace("0.0.0.0:9464", `127.0.0.1:${port}`).replace("serve: {", "serve: { listen: 127.0.0.1:0,");
  writeFileSync(file, `${here}\n${hook}\n`);
  chownSync(file, USER, USER);
}

/** What a browser does: the page, a login by the code, and what the page asks for. */
async function lookAtPage({ port, once }: Place): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const page = await fetch(url);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("page.js")]);
  const { code } = JSON.parse(await once(["login", "--json"])) as { code: string };
  const headers = { "content-type": "application/json", origin: url };
  const login = await fetch(`${url}/api/v1/session`, { method: "POST", headers, body: JSON.stringify({ code }) });
  expect(login.status).toBe(200);
  const cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
  const status = await fetch(`${url}/api/v1/status`, { headers: { cookie } });
  expect([status.status, await status.json()]).toEqual([200, expect.objectContaining({ mode: "live" })]);
}

function peakMb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

test.skipIf(missing.length > 0)(
  `the image starts, trades, shows its page, tells, is scraped, and stops within ${STOPS_WITHIN_MS / 1_000} s`,
  { timeout: 300_000 },
  async () => {
    const at = await place();
    const { chain, folder, receiver, port, mounts, env, once } = at;
    await once(["init", ...ANSWERS], true);
    const wallet = await once(["init", "--yes", "--wallet", "new"], true);
    const address = toAddress(/^wallet +(0x[0-9a-fA-F]{40})/m.exec(wallet)?.[1] ?? "");
    await chain.fund(address, { native: 1n, dollars: 900n });
    edit(at);
    await once(["live", "--yes"], true);
    const written = enterImage(root, { mounts, env }, ["touch", "/app/x", "/config/x", "/etc/x"]);
    expect((await written.ended).out.match(/Read-only file system/g)).toHaveLength(3);

    const { query } = await startMonitoring({
      ...{ folder: join(folder, "monitoring"), receiverUrl: receiver.url },
      target: `127.0.0.1:${port}`,
    });
    const command = JSON.parse(
      /^CMD (\[.*\])$/m.exec(readFileSync(join(import.meta.dirname, "../../Dockerfile"), "utf8"))?.[1] ?? "[]",
    ) as string[];
    const beganMs = performance.now();
    const daemon = enterImage(root, { mounts, env }, ["swapd", ...command]);
    await vi.waitFor(async () => expect((await fetch(env.SWAPD_HEALTH_URL)).ok, daemon.output()).toBe(true), PATIENT);
    const healthyMs = performance.now() - beganMs;
    await vi.waitFor(() => expect(daemon.output()).toContain("swap final"), PATIENT);
    const tradedMs = performance.now() - beganMs;
    await lookAtPage(at);
    await vi.waitFor(async () => expect(await query("swapd_fills_total > 0")).not.toEqual([]), PATIENT);
    const hooks = (): string => receiver.received.map(({ body }) => body).join("\n");
    await vi.waitFor(() => expect(hooks()).toMatch(/bought [\d.]+ WETH/), PATIENT);
    expect(await once(["notify", "test"])).toContain("webhook");
    expect(await once(["export", "--format", "csv"])).toMatch(/^.*swap.*USDC.*WETH/m);

    const memory = peakMb(daemon.pid);
    const stoppedMs = performance.now();
    daemon.signal("SIGTERM");
    const { code, out } = await daemon.ended;
    const stopMs = performance.now() - stoppedMs;
    expect(code, out).toBe(0);
    expect(stopMs).toBeLessThan(STOPS_WITHIN_MS);
    expect(await once(["audit"])).toContain("No difference");
    const compose = parse(readFileSync(join(import.meta.dirname, "../../compose.yaml"), "utf8")) as Shipped;
    expect(compose.services.swapd.mem_limit).toBe(`${MEMORY_MB}m`);
    expect(memory).toBeLessThan(MEMORY_MB * 0.75);
    const size = spawnSync("du", ["-sxm", root], { encoding: "utf8" }).stdout.split("\t")[0];
    const seconds = [healthyMs, tradedMs, stopMs].map((ms) => (ms / 1_000).toFixed(1));
    console.log(
      `healthy after ${seconds[0]} s, a final trade after ${seconds[1]} s, stopped in ${seconds[2]} s; ` +
        `${memory.toFixed(0)} MB at most, ${size} MB unpacked`,
    );
  },
);

test.runIf(missing.length > 0)("the image is not tried here", () => {
  console.log(`the image is not tried here: missing ${missing.join(", ")}`);
  expect(missing.length).toBeGreaterThan(0);
});
