import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { computeAddress, id, zeroPadValue } from "ethers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { startReceiver } from "../support/alert-receiver.ts";
import { type SignerDouble, startSignerDouble } from "../support/signer-double/signer-double.ts";
import { missingPrograms, startMonitoring } from "./support/monitoring.ts";
import { endWhatIsLeft, makeFolder, run, type Started, start, until } from "./support/swapd.ts";
import { call, toldOf } from "./support/watched-daemon.ts";

// A service whose relayer's key is nowhere in its process: it lies in the double of web3signer, on another port.

const RELAYER_KEY = `0x${"5e".repeat(32)}`;
const RELAYER = computeAddress(RELAYER_KEY);
const TEN_ETHER = "0x8ac7230489e80000";
const SOLD_RAW = 20_000_000n;
const WITHIN_MS = 120_000;
const OPEN = ["planned", "quoted", "cleared", "approving", "signed", "submitted", "mined", "unknown"];

const POLICY = `version: 1
max_trade: "50000 USD"
max_per_day: "10000000 USD"
recipients: [main]
gas_reserve: "1 ETH"
max_gas_price: 100gwei
max_slippage: 2%
max_price_impact: 5%
max_fee: 20%
reference: { sources: [feed], tolerance: 20% }
pause_after: { failures: 1000, within: 1h }
gasless_untried: accept
`;
const STRATEGY = `kind: dca
wallet: main
sell: "20 USDC"
buy: WETH
schedule: { every: 3s }
execution: { gasless: only }
`;

const worldSchema = z.object({
  tokens: z.object({ USDC: z.object({ address: z.string() }) }),
  wallet: z.object({ address: z.string(), privateKey: z.string() }),
});

const folder = makeFolder();
let world: z.output<typeof worldSchema>;
let rpcUrl: string;
let double: SignerDouble;
let config: string;
let serviceUrl: string;
let metrics: string;

beforeAll(async () => {
  const sandbox = start(folder.path, [
    ...["sandbox", "--chain-only", "--for", "20m", "--block-time", "0.25", "--port", "0", "--json"],
  ]);
  const announced = z.object({ rpcUrl: z.string(), chainId: z.number() }).parse(JSON.parse(await sandbox.firstLine));
  rpcUrl = announced.rpcUrl;
  world = worldSchema.parse(JSON.parse(readFileSync(join(folder.path, ".swapd/sandbox/world.json"), "utf8")));
  await call(rpcUrl, "anvil_setBalance", RELAYER, TEN_ETHER);
  double = await startSignerDouble({ chainId: announced.chainId, keys: [RELAYER_KEY], isDeterministic: false });
  const home = join(folder.path, "away");
  mkdirSync(join(home, "strategies"), { recursive: true });
  writeFileSync(join(home, "strategies", "gasless.yaml"), STRATEGY);
  writeFileSync(join(home, "policy.yaml"), POLICY);
  const [port, metricsPort] = [await claimPort(0), await claimPort(0)];
  serviceUrl = `http://127.0.0.1:${port}`;
  metrics = `http://127.0.0.1:${metricsPort}`;
  config = join(home, "swapd.yaml");
  writeFileSync(
    config,
    `version: 1
mode: live
network: { name: sandbox, rpc: [{ env: RPC }], preset: ../.swapd/sandbox/network.json, confirmations: 1 }
service: { url: "${serviceUrl}", apiKey: { env: API_KEY } }
wallets:
  main: { privateKey: { env: WALLET } }
tokens:
  WETH: { address: preset, decimals: 18, feed: preset }
  USDC: { address: preset, decimals: 6, feed: preset }
policy: policy.yaml
strategies: strategies
database: swapd.db
http: { listen: "127.0.0.1:0" }
serve:
  listen: "127.0.0.1:${port}"
  metrics: "127.0.0.1:${metricsPort}"
  database: service.db
  apiKeys: [{ env: API_KEY }]
  relayer: { signer: { url: "${double.url}", address: "${RELAYER}", timeout: 2s } }
timing: { quoteLifetime: 20s, permitLifetime: 20s, pollInterval: 200ms }
`,
  );
}, WITHIN_MS);

afterAll(async () => {
  await endWhatIsLeft();
  await double.stop();
  folder.remove();
});

const environment = (): Record<string, string> => ({
  ...{ RPC: rpcUrl, API_KEY: "a key of the daemon alone", WALLET: world.wallet.privateKey },
});

const begin = (command: string, more: Record<string, string> = {}): Started =>
  start(folder.path, [command, "--config", config], { ...environment(), ...more });

const swapd = (...words: string[]) => run(folder.path, [...words, "--config", config], environment());

/** How many swaps of the daemon are in one of these states. */
function count(...states: readonly string[]): number {
  const db = new Database(join(folder.path, "away", "swapd.db"), { readonly: true });
  try {
    const rows = db.prepare<[], string>("SELECT state FROM swaps WHERE mode = 'gasless'").pluck().all();
    return rows.filter((state) => states.includes(state)).length;
  } finally {
    db.close();
  }
}

const fills = (): number => count("confirmed", "final");

/** A Prometheus and an Alertmanager that watch the service, where they are installed. */
async function watched(): Promise<ReturnType<typeof toldOf>> {
  if (missingPrograms(["prometheus", "prometheus-alertmanager"]).length > 0) return async () => undefined;
  const { url: receiverUrl, received } = await startReceiver();
  await startMonitoring({ folder: join(folder.path, "monitoring"), receiverUrl, target: new URL(metrics).host });
  return toldOf(received);
}

/** What left the wallet of the sold token, by the chain alone. */
async function outflows(): Promise<readonly bigint[]> {
  const topics = [id("Transfer(address,address,uint256)"), zeroPadValue(world.wallet.address, 32)];
  const asked = { address: world.tokens.USDC.address, fromBlock: "0x0", toBlock: "latest", topics };
  const logs = (await call(rpcUrl, "eth_getLogs", asked)) as { transactionHash: string; data: string }[];
  const byTransaction = new Map<string, bigint>();
  for (const { transactionHash: hash, data } of logs)
    byTransaction.set(hash, (byTransaction.get(hash) ?? 0n) + BigInt(data));
  return [...byTransaction.values()];
}

it("relays what a signer elsewhere signs, killed between answer and row and once it hung, each swap exactly once", {
  timeout: 5 * WITHIN_MS,
}, async () => {
  const checked = await swapd("check");
  expect(checked.out).toMatch(/ok\s+signer of the relayer .* worth nothing/);
  const before = await outflows();
  const killed = begin("serve", { SWAPD_CRASH_AT: "relayer.lane.signed.before#2" });
  const daemon = begin("start");
  const within = { process: daemon, withinMs: WITHIN_MS };
  expect((await killed.ended).code, killed.output()).toBeNull();
  const service = begin("serve");
  const atKill = fills();
  await until("fills after the kill", within, () => fills() >= atKill + 2);
  const told = await watched();
  double.misbehave = { before: () => new Promise(() => undefined) };
  const asked = double.asked.length;
  await until("it is asked while it hangs", within, () => double.asked.length > asked);
  const signs = async (): Promise<boolean> =>
    (await (await fetch(`${metrics}/metrics`)).text()).includes(
      'swapd_service_relayer_signer_ready{network="sandbox"} 1',
    );
  await until("its figure says so", within, async () => !(await signs()));
  await told("firing", ["SwapdRelayerSignerAway"]);
  const health = async (): Promise<unknown> => (await fetch(`${serviceUrl}/health`)).json();
  await expect.poll(health, { timeout: 90_000 }).toMatchObject({ relayer: { refusal: "GASLESS_UNAVAILABLE" } });
  const hung = fills();
  double.misbehave = {};
  await until("fills once it signs again", within, () => fills() >= hung + 2);
  expect(await signs()).toBe(true);
  await told("resolved", ["SwapdRelayerSignerAway"]);
  // What was handed over is relayed, or can land no more; nothing new begins.
  const paused = await swapd("pause", "--reason", "the end of a test");
  expect(paused.code, paused.err).toBe(0);
  await until("nothing is open", within, () => count(...OPEN) === 0);
  const filled = fills();
  daemon.process.kill("SIGTERM");
  expect((await daemon.ended).code).toBe(0);
  const sold = (await outflows()).slice(before.length);
  expect(sold).toEqual(Array.from({ length: filled }, () => SOLD_RAW));
  service.process.kill("SIGTERM");
  expect((await service.ended).code).toBe(0);
  // The wallet's own key signs the orders; the signer elsewhere signs the relayer's transactions, and sends nothing.
  const methods = new Set(double.asked.map(({ method }) => method));
  expect([...methods].sort()).toEqual(["eth_accounts", "eth_signTransaction", "eth_signTypedData"]);
  const audit = await swapd("audit", "--json");
  expect(audit, audit.out).toMatchObject({ code: 0 });
});
