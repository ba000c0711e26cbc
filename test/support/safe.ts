import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { computeAddress, concat, Interface, id, type Signature, SigningKey, TypedDataEncoder } from "ethers";
import { z } from "zod";
import { encodeMultiSend, type SafeCall } from "../../src/domain/guard/multi-send.ts";
import { SAFE_CONTRACTS, type SafeVersion } from "../../src/domain/guard/safe-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";

/** A Safe of real bytecode on a local chain, with owners whose keys a test holds. */

const require = createRequire(import.meta.url);
const load = (path: string) => JSON.parse(readFileSync(require.resolve(path), "utf8"));

/** What 1.4.1 and 1.5.0 call the files of their parts. */
const PARTS = {
  singleton: "SafeL2.sol/SafeL2.json",
  factory: "proxies/SafeProxyFactory.sol/SafeProxyFactory.json",
  handler: "handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json",
  multiSend: "libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json",
} as const;

/** Deploys what is called with it, by CREATE2; the first one signs no chain id, the second one signs this one. */
const DEPLOYERS = {
  anyChain: "0x4e59b44847b379578588920cA78FbF26c0B4956C",
  ofSafe: "0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7",
} as const;

/**
 * Where npm carries the bytecode of each version, who deploys it, and the addresses of its L2 singleton, proxy factory and
 * handler; those follow from the bytecode.
 */
const CARRIED = {
  "1.3.0": {
    ...{ artifacts: "@gnosis.pm/safe-contracts", deployer: DEPLOYERS.anyChain },
    parts: {
      ...PARTS,
      singleton: "GnosisSafeL2.sol/GnosisSafeL2.json",
      factory: "proxies/GnosisSafeProxyFactory.sol/GnosisSafeProxyFactory.json",
    },
    singleton: toAddress("0x3E5c63644E683549055b9Be8653de26E0B4CD36E"),
    factory: toAddress("0xa6B71E26C5e0845f74c812102Ca7114b6a896AB2"),
    handler: toAddress("0xf48f2B2d2a534e402487b3ee7C18c33Aec0Fe5e4"),
  },
  "1.4.1": {
    ...{ artifacts: "@safe-global/safe-contracts", deployer: DEPLOYERS.ofSafe, parts: PARTS },
    singleton: toAddress("0x29fcB43b46531BcA003ddC8FCB67FFE91900C762"),
    factory: toAddress("0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67"),
    handler: toAddress("0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99"),
  },
  "1.5.0": {
    ...{ artifacts: "@safe-global/safe-smart-account", deployer: DEPLOYERS.ofSafe, parts: PARTS },
    singleton: toAddress("0xEdd160fEBBD92E350D4D398fb636302fccd67C7e"),
    factory: toAddress("0x14F2982D601c9458F93bd70B218933A6f8165e7b"),
    handler: toAddress("0x3EfCBb83A4A7AfcB4F68D501E2c2203a38be77f4"),
  },
} as const satisfies Record<SafeVersion, unknown>;
/** The versions that run here as they stand on real networks. */
export const CARRIED_VERSIONS = Object.keys(CARRIED) as readonly SafeVersion[];

const ZERO_SALT = `0x${"0".repeat(64)}`;

const SAFE = new Interface([
  "function setup(address[],uint256,address,bytes,address,address,uint256,address)",
  "function execTransaction(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,bytes signatures)",
  "function nonce() view returns(uint256)",
  "function enableModule(address)",
  "function execTransactionFromModule(address to,uint256 value,bytes data,uint8 operation) returns(bool)",
]);
const FACTORY = new Interface(["function createProxyWithNonce(address,bytes,uint256) returns(address)"]);
const PROXY_CREATION = id("ProxyCreation(address,address)");

/** How a node is asked, whatever client a test has. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

const receiptForm = z.object({
  status: z.string(),
  logs: z.array(z.object({ address: z.string(), topics: z.array(z.string()), data: z.string() })),
  transactionHash: z.string(),
  contractAddress: z.string().nullish(),
});
type MinedReceipt = z.output<typeof receiptForm>;

/** An account of its own, that anvil sends for. */
const PAYER = "0x0000000000000000000000000000000000005afe";

/** Owners: keys that nobody else has. */
const OWNER_KEYS = ["0x", "0x", "0x"].map((start, index) => `${start}${String(index + 21).repeat(32)}` as Hex);

const SAFE_TX = [
  ["address", "to"],
  ["uint256", "value"],
  ["bytes", "data"],
  ["uint8", "operation"],
  ["uint256", "safeTxGas"],
  ["uint256", "baseGas"],
  ["uint256", "gasPrice"],
  ["address", "gasToken"],
  ["address", "refundReceiver"],
  ["uint256", "nonce"],
].map(([type = "", name = ""]) => ({ type, name }));

/** The key of the first one. */
export const OWNER_KEY: Hex = `0x${"21".repeat(32)}`;

/** The owners of each Safe that is deployed here. */
export function ownersOfTestSafes(): readonly Address[] {
  return OWNER_KEYS.map((key) => toAddress(computeAddress(key)));
}

/** What owners execute. */
export interface OwnersTransaction {
  readonly to: Address;
  readonly data: Hex;
  readonly operation: 0 | 1;
  readonly nonce?: bigint;
}

/** Deploys a version and makes a Safe of three owners, two of whom sign. */
export async function deploySafe(ask: AskNode, version: SafeVersion, salt = 1n): Promise<TestSafe> {
  await ask("anvil_setBalance", [PAYER, "0xffffffffffffffffffffff"]);
  await ask("anvil_impersonateAccount", [PAYER]);
  const send = (to: string, data: string): Promise<MinedReceipt> => sendFrom(ask, { to, data });
  const { artifacts, deployer, parts, singleton, factory, handler } = CARRIED[version];
  if (deployer === DEPLOYERS.ofSafe) await deployFactoryOfSafe(ask);
  for (const part of Object.values(parts)) {
    const { bytecode } = load(`${artifacts}/build/artifacts/contracts/${part}`);
    await send(deployer, concat([ZERO_SALT, bytecode]));
  }
  for (const one of [singleton, factory, handler, SAFE_CONTRACTS[version].multiSendCallOnly]) {
    if ((await ask("eth_getCode", [one, "latest"])) === "0x") throw new Error(`${version}: nothing stands at ${one}`);
  }
  const owners = OWNER_KEYS.map((key) => computeAddress(key));
  const setup = SAFE.encodeFunctionData("setup", [
    owners,
    2,
    NATIVE_TOKEN,
    "0x",
    handler,
    NATIVE_TOKEN,
    0,
    NATIVE_TOKEN,
  ]);
  const made = await send(factory, FACTORY.encodeFunctionData("createProxyWithNonce", [singleton, setup, salt]));
  const created = made.logs.find(({ topics }) => topics[0] === PROXY_CREATION);
  // The first argument, which later versions index.
  const word = created?.topics[1] ?? created?.data.slice(0, 66);
  return new TestSafe(ask, { address: toAddress(`0x${word?.slice(26)}`), version });
}

async function deployFactoryOfSafe(ask: AskNode): Promise<void> {
  const stands = async (): Promise<boolean> => (await ask("eth_getCode", [DEPLOYERS.ofSafe, "latest"])) !== "0x";
  if (await stands()) return;
  const { signerAddress, transaction } = load("@safe-global/safe-singleton-factory/artifacts/31337/deployment.json");
  await ask("anvil_setBalance", [signerAddress, "0x56bc75e2d63100000"]);
  await ask("eth_sendRawTransaction", [transaction]);
  while (!(await stands())) await sleep(50);
}

/** The receipt of a transaction, once it has one. */
export async function minedReceipt(ask: AskNode, hash: unknown): Promise<MinedReceipt> {
  for (let tries = 0; tries < 400; tries += 1) {
    const receipt = receiptForm.nullable().parse(await ask("eth_getTransactionReceipt", [hash]));
    if (receipt !== null) return receipt;
    await sleep(50);
  }
  throw new Error(`${String(hash)} was not mined`);
}

async function sendFrom(ask: AskNode, fields: { to: string; data: string }): Promise<MinedReceipt> {
  return await minedReceipt(ask, await ask("eth_sendTransaction", [{ from: PAYER, gas: "0x989680", ...fields }]));
}

/** A Safe and its owners. */
export class TestSafe {
  readonly address: Address;
  readonly version: SafeVersion;
  private readonly ask: AskNode;

  constructor(ask: AskNode, { address, version }: { address: Address; version: SafeVersion }) {
    this.ask = ask;
    this.address = address;
    this.version = version;
  }

  async nonce(): Promise<bigint> {
    return BigInt(String(await this.ask("eth_call", [{ to: this.address, data: "0xaffed0e0" }, "latest"])));
  }

  /** The pinned MultiSendCallOnly with these calls, as Safe's interface makes of a batch. */
  batch(calls: readonly SafeCall[], nonce?: bigint): OwnersTransaction {
    const to = SAFE_CONTRACTS[this.version].multiSendCallOnly;
    return { to, data: encodeMultiSend(calls), operation: 1, ...(nonce !== undefined && { nonce }) };
  }

  /** A call of the Safe to itself that does nothing but use its nonce up, as owners reject a proposal. */
  async reject(nonce?: bigint): Promise<MinedReceipt> {
    return await this.execute({ to: this.address, data: "0x", operation: 0, ...(nonce !== undefined && { nonce }) });
  }

  /** From now on an account may act for the Safe without its owners. */
  async enableModule(module: Address): Promise<void> {
    const data = SAFE.encodeFunctionData("enableModule", [module]) as Hex;
    await this.execute({ to: this.address, data, operation: 0 });
  }

  /** A module acts for the Safe, which uses no nonce of it up. The node sends for the module's account. */
  async executeByModule(module: Address, { to, data, operation }: OwnersTransaction): Promise<MinedReceipt> {
    const call = SAFE.encodeFunctionData("execTransactionFromModule", [to, 0n, data, operation]);
    const fields = { from: module, to: this.address, data: call, gas: "0x989680" };
    return await minedReceipt(this.ask, await this.ask("eth_sendTransaction", [fields]));
  }

  /** Two owners sign, and somebody executes. @returns the receipt, whether it succeeded or not */
  async execute(transaction: OwnersTransaction): Promise<MinedReceipt> {
    return await sendFrom(this.ask, { to: this.address, data: await this.executionOf(transaction) });
  }

  /** Calldata of the execution, signed. */
  async executionOf({ to, data, operation, nonce }: OwnersTransaction): Promise<Hex> {
    const message = {
      ...{ to, value: 0n, data, operation, safeTxGas: 0n, baseGas: 0n, gasPrice: 0n },
      ...{ gasToken: NATIVE_TOKEN, refundReceiver: NATIVE_TOKEN, nonce: nonce ?? (await this.nonce()) },
    };
    const chainId = BigInt(String(await this.ask("eth_chainId", [])));
    const hash = TypedDataEncoder.hash({ chainId, verifyingContract: this.address }, { SafeTx: SAFE_TX }, message);
    const signed = OWNER_KEYS.slice(0, 2)
      .map((key) => ({ owner: computeAddress(key).toLowerCase(), signature: new SigningKey(key).sign(hash) }))
      .sort((one, other) => (one.owner < other.owner ? -1 : 1))
      .map(({ signature }): Signature => signature);
    const signatures = concat(signed.map(({ serialized }) => serialized));
    const values = [to, 0n, data, operation, 0n, 0n, 0n, NATIVE_TOKEN, NATIVE_TOKEN, signatures];
    return SAFE.encodeFunctionData("execTransaction", values) as Hex;
  }
}

const batchFile = z.object({
  meta: z.object({ description: z.string() }),
  transactions: z.array(z.object({ to: z.string(), value: z.string(), data: z.string() })),
});

/** What Safe's interface reads of a file of its Transaction Builder, and the nonce that its description asks for. */
export function readBatchFile(path: string): { readonly calls: readonly SafeCall[]; readonly nonce: bigint } {
  const { meta, transactions } = batchFile.parse(JSON.parse(readFileSync(path, "utf8")));
  const nonce = /with the nonce (\d+)/.exec(meta.description)?.[1];
  if (nonce === undefined) throw new Error(`no nonce is named: ${meta.description}`);
  const calls = transactions.map(({ to, value, data }) => ({
    to: toAddress(to),
    value: BigInt(value),
    data: data as Hex,
  }));
  return { calls, nonce: BigInt(nonce) };
}
