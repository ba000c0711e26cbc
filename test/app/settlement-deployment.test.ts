import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generatePrivateKey, writeKeystore } from "../../src/adapters/keys/keystore.ts";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import { deploySettlement, verifySettlement } from "../../src/app/commands/settlement.ts";
import type { Address } from "../../src/domain/money/address.ts";
import { parseUnits } from "../../src/domain/money/amount.ts";
import { Secret } from "../../src/net/secret.ts";
import { startTestChain, type TestChain } from "../service/support/chain.ts";
import { deployExchange, type Exchange, FEE_TIERS } from "../service/support/exchange.ts";
import { charge } from "../service/support/op-stack.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";
import { type Said, said } from "../support/said.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const GWEI = 10n ** 9n;
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

beforeAll(async () => {
  chain = await startTestChain();
  exchange = await deployExchange(chain);
});

afterAll(() => chain?.stop());

/** A configuration whose settlement is to trade with these pools: where it will be follows from them. */
function newProject(
  protocols: Exchange["protocols"],
  more: { readonly dataFee?: "op-stack" } = {},
  rpc = `[{ url: "${chain.url}" }]`,
): string {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, "strategies"));
  writeNetwork(folder, protocols, more);
  writeFileSync(join(folder, "policy.yaml"), POLICY);
  writeFileSync(
    join(folder, "swapd.yaml"),
    `version: 1
network: { name: sandbox, rpc: ${rpc}, preset: network.json, confirmations: 1 }
wallets:
  main: { address: "${WALLET}", keystore: { file: wallet.json }, password: { file: wallet.pass } }
tokens: {}
policy: policy.yaml
strategies: strategies
timing: { pollInterval: 100ms }
`,
  );
  return folder;
}

function writeNetwork(folder: string, protocols: Exchange["protocols"], more: object = {}): void {
  const { wrappedNative } = exchange;
  const facts = {
    chainId: 31_337,
    wrappedNative,
    protocols,
    feeTiers: FEE_TIERS,
    tokens: {},
    nativeFeed: wrappedNative,
    ...more,
  };
  writeFileSync(join(folder, "network.json"), JSON.stringify(facts));
}

interface Operator {
  readonly address: Address;
  /** Deploys the settlement of a project; gives up after so long, or signs nothing without. */
  deploy(forMs?: number): Promise<Said>;
}

async function newOperator(folder: string, name: string): Promise<Operator> {
  const privateKey = generatePrivateKey();
  const { address } = createSigner(privateKey);
  const [keystore, passwordFile] = [join(folder, `${name}.json`), join(folder, `${name}.pass`)];
  writeFileSync(passwordFile, "correct horse\n");
  writeFileSync(keystore, await writeKeystore({ privateKey, password: new Secret("correct horse") }));
  await chain.rpc.call("anvil_setBalance", [address, "0x8ac7230489e80000"]);
  return {
    address,
    deploy(forMs) {
      const config = join(folder, "swapd.yaml");
      const options = { config, keystore, passwordFile, ...(forMs && { yes: true, for: forMs }) };
      return said((terminal) => deploySettlement(options, terminal));
    },
  };
}

/** A node before the chain that changes what it answers. */
function startNode(answer: (body: string, text: string) => string | Promise<string>) {
  return startHttpServer(async (request, response) => {
    const body = await readBody(request);
    const headers = { "content-type": "application/json" };
    response.end(await answer(body, await (await fetch(chain.url, { method: "POST", body, headers })).text()));
  });
}

async function mineWith(baseFee: bigint): Promise<void> {
  await chain.rpc.call("anvil_setNextBlockBaseFeePerGas", [`0x${baseFee.toString(16)}`]);
  await chain.rpc.call("evm_mine", []);
}

const sentBy = async ({ address }: Operator) =>
  Number(await chain.rpc.call("eth_getTransactionCount", [address, "latest"]));

test("a deployment that an account asked for and never signed is made by another one", async () => {
  // What the first one has is gone between the plan and its first transaction.
  const seen = { balances: 0 };
  const node = await startNode((body, text) => {
    if (!body.includes("eth_getBalance")) return text;
    seen.balances += 1;
    return seen.balances === 1 || seen.balances > 1_000
      ? text
      : text.replace(/"result":"0x[0-9a-f]+"/, '"result":"0x0"');
  });
  const folder = newProject(exchange.protocols, {}, `[{ url: "${node.url}" }]`);
  const [first, second] = [await newOperator(folder, "first"), await newOperator(folder, "second")];
  await mineWith(20n * GWEI);
  const waited = /^waits +the account cannot pay for its next transaction$/m;
  const ended = await first.deploy(1_500);
  expect(ended).toMatchObject({ code: 75, text: expect.stringMatching(waited) });
  expect(ended.text).toMatch(/^still under way \(the account cannot pay/m);
  seen.balances = 1_000;
  await mineWith(100n * GWEI);
  const dear = { code: 75, text: expect.stringContaining("above the policy's max_gas_price") };
  expect(await second.deploy(1_500)).toMatchObject(dear);
  await mineWith(GWEI);
  await chain.rpc.call("evm_setIntervalMining", [1]);
  expect(await second.deploy(15_000)).toMatchObject({ code: 0, text: expect.stringContaining("byte for byte") });
  expect([await sentBy(first), await sentBy(second)]).toEqual([0, 2]);
});

test("a deployment that an account signed goes on with its key alone, and another one is told so at once", async () => {
  const folder = newProject(exchange.protocols.slice(0, 1));
  const [first, second] = [await newOperator(folder, "first"), await newOperator(folder, "second")];
  await chain.rpc.call("evm_setAutomine", [false]);
  await chain.rpc.call("evm_setIntervalMining", [0]);
  await mineWith(GWEI);
  expect(await first.deploy(1_500)).toMatchObject({ code: 75, text: expect.stringContaining("still under way") });
  expect(await second.deploy(15_000)).toMatchObject({ code: 1, text: expect.stringContaining(first.address) });
  await chain.rpc.call("evm_setIntervalMining", [1]);
  expect(await first.deploy(15_000)).toMatchObject({ code: 0, text: expect.stringContaining("byte for byte") });
  expect([await sentBy(first), await sentBy(second)]).toEqual([2, 0]);
});

test("a creation that is mined and final between the plan of the next run and its first look is not made again", async () => {
  const seen = { isPlanned: false };
  const node = await startNode(async (body, text) => {
    if (seen.isPlanned && body.includes("eth_getBalance")) {
      seen.isPlanned = false;
      await chain.rpc.call("anvil_mine", ["0x80"]);
      await chain.rpc.call("evm_setIntervalMining", [1]);
    }
    return text;
  });
  const folder = newProject(exchange.protocols.slice(1, 3), {}, `[{ url: "${node.url}" }]`);
  const operator = await newOperator(folder, "operator");
  await chain.rpc.call("evm_setAutomine", [false]);
  await chain.rpc.call("evm_setIntervalMining", [0]);
  await mineWith(GWEI);
  expect(await operator.deploy(1_500)).toMatchObject({ code: 75, text: expect.stringContaining("still under way") });
  seen.isPlanned = true;
  const ended = await operator.deploy(15_000);
  expect([ended.code, seen.isPlanned, await sentBy(operator)]).toEqual([0, false, 2]);
});

test("a deployment is shown with what a rollup takes for its data, and not begun without money for both", async () => {
  await chain.rpc.call("evm_setIntervalMining", [0]);
  const folder = newProject(exchange.protocols.slice(0, 2), { dataFee: "op-stack" });
  const operator = await newOperator(folder, "operator");
  // Some 30,000 bytes are published.
  await charge(chain, { perByte: 100n * GWEI, operatorScalar: 0n, operatorConstant: GWEI });
  const shown = await operator.deploy();
  expect(shown).toMatchObject({ code: 0, text: expect.stringMatching(/^never more +than 0\.\d+ ETH for gas, /m) });
  const coinsOf = (line: RegExp, { text } = shown) => parseUnits(line.exec(text)?.[1] ?? "", 18) as bigint;
  const [gas, data] = [coinsOf(/^gas .* gwei: (0\.\d+) ETH$/m), coinsOf(/^data +now (0\.\d+) ETH on top/m)];
  expect(data).toBeGreaterThan(2n * 10n ** 15n);
  const withBalance = async (balance: bigint) => {
    await chain.rpc.call("anvil_setBalance", [operator.address, `0x${balance.toString(16)}`]);
    return operator.deploy();
  };
  // What a creation offers must be there, besides what those before it cost: twice the base fee, and the tip.
  const refused = await withBalance(gas + data);
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining("too little") });
  const needed = coinsOf(/^that is too little: (0\.\d+) ETH are needed/m, refused);
  expect(needed).toBeGreaterThan(gas + data);
  expect(needed).toBeLessThan(2n * gas + data);
  expect(await withBalance(needed - 1n)).toMatchObject({ code: 1, text: expect.stringContaining("too little") });
  expect(await withBalance(needed)).toMatchObject({ code: 0 });
});

test("a creation that reverted ends a deployment before the next one costs anything, and is made again once its block is final", async () => {
  const seen = { gasPercent: 80 };
  // Such a node leaves a part out that the chain takes as gas.
  const node = await startNode((body, text) => {
    const less = (gas: string) => `0x${((BigInt(gas) * BigInt(seen.gasPercent)) / 100n).toString(16)}`;
    return body.includes("eth_simulateV1") ? text.replace(/(?<="gasUsed":")0x[0-9a-f]+/g, less) : text;
  });
  const folder = newProject(exchange.protocols.slice(1, 2), {}, `[{ url: "${node.url}" }]`);
  const operator = await newOperator(folder, "operator");
  await mineWith(GWEI);
  await chain.rpc.call("evm_setIntervalMining", [1]);
  const reverted = /^the creation of the executor reverted in 0x[0-9a-f]{64}: run the command again once its block/m;
  expect(await operator.deploy(15_000)).toMatchObject({ code: 1, text: expect.stringMatching(reverted) });
  expect(await sentBy(operator)).toBe(1);
  seen.gasPercent = 100;
  await chain.rpc.call("anvil_mine", ["0x80"]);
  expect(await operator.deploy(15_000)).toMatchObject({ code: 0, text: expect.stringContaining("byte for byte") });
  expect(await sentBy(operator)).toBe(3);
});

test("an account that sent something else is told what to do about its journal, and that does it", async () => {
  const folder = newProject(exchange.protocols.slice(2, 3));
  const operator = await newOperator(folder, "operator");
  await mineWith(GWEI);
  await chain.rpc.call("evm_setIntervalMining", [1]);
  expect(await operator.deploy(15_000)).toMatchObject({ code: 0 });
  await chain.rpc.call("anvil_impersonateAccount", [operator.address]);
  await chain.rpc.call("eth_sendTransaction", [{ from: operator.address, to: WALLET, value: "0x1" }]);
  await chain.rpc.call("anvil_mine", ["0x80"]);
  writeNetwork(folder, exchange.protocols.slice(0, 1).concat(exchange.protocols.slice(2, 3)));
  const halted = await operator.deploy(15_000);
  const file = join(folder, "settlement-31337.db");
  expect(halted).toMatchObject({ code: 1, text: expect.stringContaining(`move ${file} away`) });
  renameSync(file, `${file}.old`);
  expect(await operator.deploy(15_000)).toMatchObject({ code: 0, text: expect.stringContaining("byte for byte") });
  expect(await sentBy(operator)).toBe(5);
});

test("contracts are verified where the first endpoint is away, or of another chain, and never by what that one says", async () => {
  const other = await startHttpServer(async (request, response) => {
    const { id } = JSON.parse(await readBody(request)) as { id: number };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x1" }));
  });
  for (const first of ["http://127.0.0.1:9", other.url]) {
    const folder = newProject(exchange.protocols, {}, `[{ url: "${first}" }, { url: "${chain.url}" }]`);
    const config = join(folder, "swapd.yaml");
    const verified = await said((terminal) => verifySettlement(exchange.settlement, { config }, terminal));
    expect(verified).toMatchObject({ code: 0, text: expect.stringContaining("byte for byte") });
  }
});
