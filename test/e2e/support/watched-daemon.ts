import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { claimPort } from "../../../src/sandbox/free-port.ts";
import { type Received, startReceiver } from "../../support/alert-receiver.ts";
import { startMonitoring } from "./monitoring.ts";
import { makeFolder, run, type Started, start } from "./swapd.ts";

/** How long a rule may take to fire and its message to arrive. */
export const LONG = { timeout: 60_000, interval: 250 };

/** The world of a sandbox, as its first line describes it. */
export interface World {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly serviceUrl: string;
  readonly settlement: string;
  readonly tokens: Readonly<Record<string, { readonly address: string }>>;
  readonly wallet: { readonly address: string; readonly privateKey: string };
}

/** What a daemon that is watched is made of. */
export interface WatchedOptions {
  /** texts of strategy files by their ids */
  readonly strategies: Readonly<Record<string, string>>;
  /** changes the main file before the sandbox begins, and the policy before the daemon does */
  readonly edit?: { readonly main?: (text: string) => string; readonly policy?: (text: string) => string };
  /** further environment of the daemon */
  readonly env?: Readonly<Record<string, string>>;
  /** puts something between daemon and service or wallet, and gives the lines of its configuration that differ */
  between?(world: World): Promise<{ readonly serviceUrl?: string; readonly wallet?: string }>;
}

/** A strategy that buys again and again. */
export const dca = (lines: string): string =>
  `kind: dca\nwallet: main\n${lines}\nretry_for: 4s\nexecution: { gasless: never }\n`;

/** A daemon of its own on a sandbox's chain and service, with Prometheus and Alertmanager that watch it. */
export async function startWatched({ strategies, edit = {}, env: more = {}, between }: WatchedOptions) {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const config = (name: string): string => join(folder.path, "config", name);
  const change = (name: string, by: ((text: string) => string) | undefined): void => {
    if (by !== undefined) writeFileSync(config(name), by(readFileSync(config(name), "utf8")));
  };
  change("sandbox.yaml", edit.main);
  const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--port", "0"]);
  onTestFinished(() => void sandbox.process.kill("SIGKILL"));
  const world = JSON.parse(await sandbox.firstLine) as World;
  // Afterwards: with tighter limits the sandbox would refuse its own strategies.
  change("sandbox.policy.yaml", edit.policy);
  const { serviceUrl = world.serviceUrl, wallet } = (await between?.(world)) ?? {};
  const port = await claimPort(0);
  rmSync(join(folder.path, "strategies"), { recursive: true });
  mkdirSync(join(folder.path, "strategies"));
  for (const [name, text] of Object.entries(strategies))
    writeFileSync(join(folder.path, "strategies", `${name}.yaml`), text);
  const text = readFileSync(config("sandbox.yaml"), "utf8")
    .replace("url: embedded", `url: "${serviceUrl}"`)
    .replace("strategies: ../strategies/sandbox", "strategies: ../strategies")
    .replace("../.swapd/sandbox/swapd.db", "../watched.db")
    .replace("127.0.0.1:9464", `127.0.0.1:${port}`)
    .replace(/^ {2}main: .*$/m, (own) => (wallet === undefined ? own : `  main: ${wallet}`))
    .replace(
      /^serve:[\s\S]*?(?=^timing:)/m,
      "alerts: { webhook: { url: { env: DEAD_URL }, secret: { env: DEAD_SECRET }, minimum: info } }\n",
    );
  writeFileSync(config("watched.yaml"), text);
  const env = {
    ...{ SWAPD_SANDBOX_RPC: world.rpcUrl, SWAPD_SANDBOX_WALLET_KEY: world.wallet.privateKey },
    ...{ DEAD_URL: "http://127.0.0.1:9/hook", DEAD_SECRET: "a secret that nobody receives" },
    ...more,
  };
  const begin = (): Started => {
    const daemon = start(folder.path, ["start", "--config", config("watched.yaml")], env);
    onTestFinished(() => void daemon.process.kill("SIGKILL"));
    return daemon;
  };
  const swapd = (...args: string[]) => run(folder.path, [...args, "--config", config("watched.yaml")], env);
  const { url, received } = await startReceiver();
  const target = `127.0.0.1:${port}`;
  const { query } = await startMonitoring({ folder: join(folder.path, "monitoring"), receiverUrl: url, target });
  return { world, port, begin, swapd, query, told: toldOf(received) };
}

/** Waits until Alertmanager has told a receiver of all these rules. */
export function toldOf(received: readonly Received[]) {
  return async (status: "firing" | "resolved", names: readonly string[], within = LONG): Promise<void> => {
    const wanted = expect.arrayContaining([...names]);
    await vi.waitFor(() => expect([...namesIn(received, status)]).toEqual(wanted), within);
  };
}

function namesIn(received: readonly Received[], status: string): ReadonlySet<string> {
  const alerts = received.flatMap(
    ({ body }) => (JSON.parse(body) as { alerts: { status: string; labels: { alertname: string } }[] }).alerts,
  );
  return new Set(alerts.filter((alert) => alert.status === status).map(({ labels }) => labels.alertname));
}

/** Asks a node. */
export async function call(rpcUrl: string, method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const answer = (await (await fetch(rpcUrl, { method: "POST", headers, body })).json()) as { result?: unknown };
  return answer.result;
}

/** The process of the node behind a URL. @throws Error where it is not found: process 0 would be the test's own group */
export function nodeOf(rpcUrl: string): number {
  const { port } = new URL(rpcUrl);
  const pids = spawnSync("pgrep", ["-x", "anvil"], { encoding: "utf8" }).stdout.trim().split("\n").map(Number);
  const found = pids.find((pid) => pid > 0 && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--port\0${port}`));
  if (found === undefined) throw new Error(`no anvil has the port ${port}`);
  return found;
}
