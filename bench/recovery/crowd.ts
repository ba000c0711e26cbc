import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HDNodeWallet, Interface } from "ethers";
import { DEPLOYER } from "../../src/sandbox/accounts.ts";
import type { Rpc } from "../../src/sandbox/rpc.ts";

/** A chain of the sandbox, as its files describe it. */
export interface ChainWorld {
  readonly settlement: string;
  readonly relayer: { readonly privateKey: string };
  readonly tokens: Readonly<Record<string, { readonly address: string }>>;
}

/**
 * What each wallet sells, each in a strategy of its own, and how. At most one swap of a wallet and token may be open. No
 * token without a permit: an allowance that stands from before is a difference that halts its token.
 */
const SALES = [
  { sell: "0.01 ETH", buy: "USDC", gasless: "never" },
  { sell: "50 USDC", buy: "WETH", gasless: "only" },
  { sell: "50 DAI", buy: "WETH", gasless: "only" },
] as const;

const FUNDS: Readonly<Record<string, bigint>> = {
  USDC: 1_000n * 10n ** 6n,
  DAI: 1_000n * 10n ** 18n,
};

const TOKEN = new Interface(["function mint(address to, uint256 amount)"]);
const PHRASE = "test test test test test test test test test test test junk";
const FIRST_FREE_ACCOUNT = 10;

/** So many wallets as it takes for a number of swaps. */
export function crowdOf(swaps: number): readonly HDNodeWallet[] {
  const parent = HDNodeWallet.fromPhrase(PHRASE, undefined, "m/44'/60'/0'/0");
  return Array.from({ length: Math.ceil(swaps / SALES.length) }, (_, index) =>
    parent.deriveChild(FIRST_FREE_ACCOUNT + index),
  );
}

/** Gives every wallet what it will sell, and waits until the chain says so. */
export async function fund(rpc: Rpc, world: ChainWorld, crowd: readonly HDNodeWallet[]): Promise<void> {
  await rpc.call("anvil_autoImpersonateAccount", true);
  const native = `0x${(10n * 10n ** 18n).toString(16)}`;
  await rpc.batch(crowd.map(({ address }) => ({ method: "anvil_setBalance", params: [address, native] })));
  const nonces = new Map([
    [DEPLOYER.address as string, Number(await rpc.call("eth_getTransactionCount", DEPLOYER.address, "pending"))],
  ]);
  const send = (from: string, symbol: string, data: string) => {
    const nonce = nonces.get(from) ?? 0;
    nonces.set(from, nonce + 1);
    const to = world.tokens[symbol]?.address;
    return {
      method: "eth_sendTransaction",
      params: [{ from, to, data, gas: "0x30d40", nonce: `0x${nonce.toString(16)}` }],
    };
  };
  const sent = await rpc.batch(
    crowd.flatMap(({ address }) =>
      Object.entries(FUNDS).map(([symbol, amount]) =>
        send(DEPLOYER.address, symbol, TOKEN.encodeFunctionData("mint", [address, amount])),
      ),
    ),
  );
  const receipts = async () =>
    await rpc.batch(sent.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })));
  for (let tries = 0; (await receipts()).includes(null); tries += 1) {
    if (tries > 120) throw new Error("the wallets were not funded within two minutes");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  await rpc.call("anvil_autoImpersonateAccount", false);
}

/**
 * Writes the files of a daemon that has all sales due at one minute, and gives its configuration, that of its service,
 * and their environment. Its quotes live as long as is said; those of the service a little shorter than the daemon
 * allows, because the chain's time lags behind theirs.
 */
export function writeProject(
  folder: string,
  from: {
    world: ChainWorld;
    rpcUrl: string;
    crowd: readonly HDNodeWallet[];
    servicePort: number;
    serviceUrl: string;
    cron: string;
    lifetimeSeconds: number;
  },
): { daemon: string; service: string; env: Record<string, string> } {
  const { world, crowd, servicePort, serviceUrl, lifetimeSeconds } = from;
  const home = join(folder, "recovery");
  mkdirSync(join(home, "strategies"), { recursive: true });
  cpSync(join(folder, ".swapd/sandbox/network.json"), join(home, "network.json"));
  // The feeds stand still with the chain while the swaps are opened; how fresh a price must be is not what is measured.
  const preset = readFileSync(join(home, "network.json"), "utf8");
  writeFileSync(join(home, "network.json"), preset.replace(/"heartbeatSeconds": \d+/, '"heartbeatSeconds": 3600'));
  const names = crowd.map((_, index) => `w${index}`);
  for (const name of names) {
    for (const { sell, buy, gasless } of SALES) {
      const id = `${name}-${sell.split(" ")[1]?.toLowerCase()}`;
      const lines = ["kind: dca", `wallet: ${name}`, `sell: "${sell}"`, `buy: ${buy}`, "retry_for: 5m"];
      lines.push(`schedule: { cron: "${from.cron}" }`, `execution: { gasless: ${gasless} }`, `recipient: ${name}`);
      writeFileSync(join(home, "strategies", `${id}.yaml`), `${lines.join("\n")}\n`);
    }
  }
  writeFileSync(join(home, "policy.yaml"), policyFile(names));
  const [daemon, service] = [join(home, "swapd.yaml"), join(home, "service.yaml")];
  writeFileSync(daemon, mainFile(names, { serviceUrl, servicePort, lifetimeSeconds }));
  writeFileSync(
    service,
    mainFile(names, { serviceUrl, servicePort, lifetimeSeconds: Math.floor((lifetimeSeconds * 5) / 6) }),
  );
  const keys = Object.fromEntries(crowd.map(({ privateKey }, index) => [`RECOVERY_W${index}`, privateKey]));
  const { relayer } = world;
  const env = {
    ...keys,
    RECOVERY_RPC: from.rpcUrl,
    RECOVERY_RELAYER: relayer.privateKey,
    RECOVERY_KEY: "recovery-key",
  };
  return { daemon, service, env };
}

function policyFile(names: readonly string[]): string {
  return `version: 1
max_trade: "1000 USD"
max_per_day: "1000000 USD"
recipients: [${names.join(", ")}]
gas_reserve: "1 ETH"
max_gas_price: 100gwei
max_slippage: 5%
max_price_impact: 5%
max_fee: 20%
reference: { sources: [feed], tolerance: 25% }
`;
}

/** Poll interval and confirmations are the defaults of a real network. */
function mainFile(
  names: readonly string[],
  from: { serviceUrl: string; servicePort: number; lifetimeSeconds: number },
): string {
  const { serviceUrl, servicePort, lifetimeSeconds } = from;
  return `version: 1
mode: live
network: { name: sandbox, rpc: [{ env: RECOVERY_RPC }], preset: network.json, confirmations: 3 }
service: { profile: swapd, url: "${serviceUrl}", apiKey: { env: RECOVERY_KEY } }
wallets:
${names.map((name, index) => `  ${name}: { privateKey: { env: RECOVERY_W${index} } }`).join("\n")}
tokens:
  WETH: { address: preset, decimals: 18, feed: preset }
  USDC: { address: preset, decimals: 6, feed: preset }
  DAI: { address: preset, decimals: 18, feed: preset }
  WBTC: { address: preset, decimals: 8, feed: preset }
  USDT: { address: preset, decimals: 6, feed: preset }
policy: policy.yaml
strategies: strategies
database: swapd.db
http: { listen: "127.0.0.1:0" }
log: { level: info }
serve:
  listen: "127.0.0.1:${servicePort}"
  database: service.db
  apiKeys: [{ env: RECOVERY_KEY }]
  relayer: { privateKey: { env: RECOVERY_RELAYER } }
timing: { quoteLifetime: ${lifetimeSeconds}s, permitLifetime: ${lifetimeSeconds}s, pollInterval: 2s }
`;
}
