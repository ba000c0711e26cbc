import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generatePrivateKey, writeKeystore } from "../../src/adapters/keys/keystore.ts";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import type { Address, Hex } from "../../src/domain/money/address.ts";
import { Secret } from "../../src/net/secret.ts";
import { type Ended, endWhatIsLeft, run } from "../e2e/support/swapd.ts";
import { startTestChain, type TestChain } from "../service/support/chain.ts";
import { deployExchange, type Exchange, FEE_TIERS } from "../service/support/exchange.ts";

const DEPLOYER = "0x4e59b44847b379578588920ca78fbf26c0b4956c";
const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const POLICY = `version: 1
max_trade: "500 USD"
max_per_day: "1000 USD"
recipients: [main]
gas_reserve: "0.01 ETH"
max_gas_price: 50gwei
`;

let chain: TestChain;
let exchange: Exchange;
let operator: Address;
const folder = mkdtempSync(join(tmpdir(), "swapd-settlement-"));
const KEY = ["--keystore", join(folder, "operator.json"), "--password-file", join(folder, "operator.pass")];

beforeAll(async () => {
  chain = await startTestChain();
  exchange = await deployExchange(chain);
  const privateKey = generatePrivateKey();
  operator = createSigner(privateKey).address;
  writeFileSync(join(folder, "operator.pass"), "correct horse\n");
  writeFileSync(
    join(folder, "operator.json"),
    await writeKeystore({ privateKey, password: new Secret("correct horse") }),
  );
  writeProject();
}, 120_000);

afterAll(async () => {
  await endWhatIsLeft();
  await chain?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A network that knows no settlement yet. */
function writeProject(): void {
  const preset = {
    chainId: 31_337,
    wrappedNative: exchange.wrappedNative,
    protocols: exchange.protocols,
    feeTiers: FEE_TIERS,
    tokens: {},
    nativeFeed: exchange.wrappedNative,
  };
  mkdirSync(join(folder, "strategies"));
  writeFileSync(join(folder, "network.json"), JSON.stringify(preset));
  writeFileSync(join(folder, "policy.yaml"), POLICY);
  writeFileSync(
    join(folder, "swapd.yaml"),
    `version: 1
network: { name: sandbox, rpc: [{ url: "${chain.url}" }], preset: network.json, confirmations: 1 }
wallets:
  main: { address: "${WALLET}", keystore: { file: wallet.json }, password: { file: wallet.pass } }
tokens: {}
policy: policy.yaml
strategies: strategies
timing: { pollInterval: 100ms }
`,
  );
}

async function swapd(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return await run(folder, ["settlement", ...args, "--config", join(folder, "swapd.yaml")], env);
}

async function codeAt(address: string): Promise<Hex> {
  return (await chain.rpc.call("eth_getCode", [address, "latest"])) as Hex;
}

async function setCode(address: string, code: string): Promise<void> {
  await chain.rpc.call("anvil_setCode", [address, code]);
}

async function sent(): Promise<number> {
  return Number(await chain.rpc.call("eth_getTransactionCount", [operator, "latest"]));
}

/** Where a dry run says that a contract will be. */
function placeOf(name: "executor" | "settlement", { out }: Ended): Address {
  const [, address] = new RegExp(`^${name} +(0x[0-9a-f]{40}) `, "m").exec(out) ?? [];
  if (address === undefined) throw new Error(`no ${name} in ${out}`);
  return address as Address;
}

it("shows what a deployment would cost and signs nothing, until there is money and a word for it", async () => {
  const shown = await swapd(["deploy"]);
  expect(shown).toMatchObject({ code: 0, err: expect.stringMatching(/^on .*mode dry-run/) });
  expect(shown.out).toMatch(/^gas +at most \d+, now at [\d.]+ g?wei: 0\.\d+ ETH$/m);
  expect(shown.out).toContain(DEPLOYER);
  expect(shown.out).toContain("nothing was signed");
  expect(await codeAt(placeOf("settlement", shown))).toBe("0x");
  expect(await swapd(["deploy", "--yes"])).toMatchObject({ code: 2 });
  expect(await swapd(["deploy", "--yes", ...KEY])).toMatchObject({
    code: 1,
    err: expect.stringContaining(`send ${operator} some ETH first`),
  });
  expect(existsSync(join(folder, "settlement-31337.db"))).toBe(false);
}, 60_000);

it("refuses by name where the deployment proxy is not, or is another", async () => {
  const proxy = await codeAt(DEPLOYER);
  for (const [code, words] of [
    ["0x", "is not on"],
    ["0x6000", "has other code"],
  ] as const) {
    await setCode(DEPLOYER, code);
    const refused = await swapd(["deploy"]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(words) });
  }
  await setCode(DEPLOYER, proxy);
}, 60_000);

it("deploys each contract once, however often it is killed on the way, and what is there is verified", async () => {
  await chain.rpc.call("anvil_setBalance", [operator, "0x8ac7230489e80000"]);
  const dry = await swapd(["deploy"]);
  const [executor, settlement] = [placeOf("executor", dry), placeOf("settlement", dry)];
  await chain.rpc.call("evm_setAutomine", [false]);
  await chain.rpc.call("evm_setIntervalMining", [1]);
  for (const label of ["lane.signed.after", "lane.broadcast.after"]) {
    const killed = await swapd(["deploy", "--yes", ...KEY], { SWAPD_CRASH_AT: `settlement.${label}` });
    expect(killed.code).toBeNull();
  }
  const done = await swapd(["deploy", "--yes", ...KEY]);
  expect(done).toMatchObject({ code: 0 });
  expect(done.out).toContain(`service: { settlement: "${settlement}" }`);
  expect(await sent()).toBe(2);
  for (const address of [executor, settlement]) expect((await codeAt(address)).length).toBeGreaterThan(1_000);
  const again = await swapd(["deploy", "--yes", ...KEY]);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("byte for byte") });
  expect(await sent()).toBe(2);
  // Without an address it is the place that code and network alone decide.
  expect(await swapd(["verify"])).toMatchObject({ code: 0, out: expect.stringContaining(settlement) });
}, 120_000);

it("finds every difference of code, of a value in it, and of the network", async () => {
  const { settlement, executor } = exchange;
  expect(await swapd(["verify", settlement])).toMatchObject({ code: 0 });
  const code = await codeAt(settlement);
  const last = code.endsWith("3") ? "4" : "3";
  const changed: [code: string, words: string][] = [
    [`${code.slice(0, -1)}${last}`, "differs from ours at byte"],
    [`${code}00`, "bytes, ours has"],
    [code.replaceAll(exchange.wrappedNative.slice(2), exchange.minter.slice(2)), "unexpected value"],
  ];
  for (const [other, words] of changed) {
    await setCode(settlement, other);
    expect(await swapd(["verify", settlement])).toMatchObject({ code: 1, err: expect.stringContaining(words) });
  }
  await setCode(settlement, code);
  await setCode(executor, "0x6000");
  expect(await swapd(["verify", settlement])).toMatchObject({ code: 1, err: expect.stringContaining(executor) });
  expect(await swapd(["verify", exchange.minter])).toMatchObject({
    code: 1,
    err: expect.stringContaining("no settlement contract of ours"),
  });
}, 120_000);
