import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { makeFolder, type Started, start, until } from "./support/swapd.ts";

const worldSchema = z.object({
  rpcUrl: z.string(),
  serviceUrl: z.string(),
  apiKey: z.string(),
  wallet: z.object({ privateKey: z.string() }),
});

const RPC_SECRET = "canary-rpc-path-0123456789";
/** Longest for a first swap, and for the news that the node is gone, on a machine that has other things to do. */
const HAPPENS_WITHIN_MS = 60_000;
const folder = makeFolder();
let sandbox: Started;
let daemon: Started | undefined;
let texts: Map<string, string>;
let secrets: string[];
let lostNode: RegExp;

/** A daemon of its own against the sandbox, with every secret where users have theirs. */
function writeConfiguration(): string {
  const file = join(folder.path, "config", "canary.yaml");
  const own = readFileSync(join(folder.path, "config", "sandbox.yaml"), "utf8")
    .replace("url: embedded", 'url: "SERVICE", apiKey: { env: CANARY_API_KEY }')
    .replace("SWAPD_SANDBOX_RPC", "CANARY_RPC")
    .replace("SWAPD_SANDBOX_WALLET_KEY", "CANARY_WALLET_KEY")
    .replaceAll("../.swapd/sandbox/swapd.db", "../canary.db")
    .replace(/^serve:[\s\S]*?(?=^timing:)/m, "")
    .replace("127.0.0.1:9464", "127.0.0.1:0")
    .replace("level: info", "level: debug");
  writeFileSync(file, own);
  return file;
}

beforeAll(async () => {
  sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--port", "0"]);
  const world = worldSchema.parse(JSON.parse(await sandbox.firstLine));
  const file = writeConfiguration();
  writeFileSync(file, readFileSync(file, "utf8").replace("SERVICE", world.serviceUrl));
  secrets = [RPC_SECRET, world.apiKey, world.wallet.privateKey.slice(2)];
  const env = {
    CANARY_RPC: `${world.rpcUrl}/?key=${RPC_SECRET}`,
    CANARY_API_KEY: world.apiKey,
    CANARY_WALLET_KEY: world.wallet.privateKey,
  };
  daemon = start(folder.path, ["start", "--config", file], env);
  const patience = { process: daemon, withinMs: HAPPENS_WITHIN_MS };
  await until("a confirmed swap", patience, () => daemon?.output().includes("swap confirmed") === true);
  const reachable = /"statusUrl":"([^"]+)"/.exec(daemon.output())?.[1] ?? "";
  const pages = await Promise.all(
    ["/healthz", "/metrics", "/api/v1/session"].map((path) => fetch(`${reachable}${path}`)),
  );
  const served = await Promise.all(pages.map((page) => page.text()));
  sandbox.process.kill("SIGTERM");
  await sandbox.ended;
  // The node is gone now: errors that name it are the ones that leak.
  lostNode = new RegExp(`${new URL(world.rpcUrl).host}[^\n]*ECONNREFUSED`);
  await until("an error that names the lost node", patience, () => lostNode.test(daemon?.output() ?? ""));
  daemon.process.kill("SIGTERM");
  const ended = await daemon.ended;
  expect(ended.code).toBe(0);
  texts = new Map([
    ["output", ended.out + ended.err],
    ["pages", served.join("\n")],
  ]);
  for (const name of readdirSync(folder.path).filter((entry) => entry.startsWith("canary.db"))) {
    texts.set(name, readFileSync(join(folder.path, name), "latin1"));
  }
}, 180_000);

afterAll(() => {
  // What a failed preparation left behind.
  sandbox.process.kill("SIGTERM");
  daemon?.process.kill("SIGTERM");
  folder.remove();
});

describe("secrets", () => {
  it("occur in no log line, page or database, also not in errors about a node that is gone", () => {
    expect(texts.get("output")).toContain("swap confirmed");
    expect(texts.get("output")).toMatch(lostNode);
    for (const [place, text] of texts) {
      for (const secret of secrets) expect(text.includes(secret), `${secret.slice(0, 6)}… in ${place}`).toBe(false);
    }
  });

  it("would be found if they were there", () => {
    expect([...texts.keys()]).toEqual(expect.arrayContaining(["canary.db", "canary.db.limiter.db"]));
    expect(texts.get("pages")).toContain("swapd_swaps");
  });
});
