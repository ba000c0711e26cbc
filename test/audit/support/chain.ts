import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { AbiCoder, Interface, type InterfaceAbi, Wallet, ZeroHash } from "ethers";
import { createJsonRpc, type JsonRpc } from "../../../src/chain/json-rpc.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { startBareAnvil } from "../../support/anvil.ts";
import type { RowToken } from "./journal.ts";

/** The first of anvil's own unlocked accounts: it deploys, and owns everything that is nobody's in the story. */
export const DEPLOYER = toAddress("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");

export interface Contract {
  readonly address: Address;
  readonly abi: Interface;
}

export interface MinedTransaction {
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly succeeded: boolean;
  readonly contractAddress: Address | undefined;
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
  readonly blockTimeSeconds: number;
  readonly logs: readonly { address: string; topics: string[]; data: string }[];
}

/** A chain on which one wallet can really swap: pools of Uniswap V2, the settlement contracts, tokens with permits. */
export interface Chain {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly rpc: JsonRpc;
  readonly tokens: Record<"WETH" | "USDC" | "DAI" | "ETH", RowToken>;
  readonly contracts: Record<"weth" | "usdc" | "dai" | "settlement" | "foreignSettlement", Contract>;
  readonly wallet: Wallet;
  readonly relayer: Wallet;
  pair(a: Address, b: Address): Promise<Address>;
  call(contract: Contract, method: string, ...values: readonly unknown[]): Promise<unknown>;
  /** From an account that the node holds the key of. */
  send(from: Address, to: Address, data: Hex, value?: bigint): Promise<MinedTransaction>;
  sendRaw(raw: string): Promise<MinedTransaction>;
  nativeBalance(owner: Address): Promise<bigint>;
  snapshot(): Promise<unknown>;
  revert(id: unknown): Promise<void>;
  stop(): Promise<void>;
}

const require = createRequire(import.meta.url);
const POOL_TOKENS = 10n ** 24n;

interface Artifact {
  readonly abi: Interface;
  readonly bytecode: string;
}

function artifact(path: string | URL): Artifact {
  const { abi, bytecode } = JSON.parse(readFileSync(path, "utf8")) as { abi: InterfaceAbi; bytecode: string };
  return { abi: new Interface(abi), bytecode: bytecode.startsWith("0x") ? bytecode : `0x${bytecode}` };
}

const own = (name: string) => artifact(new URL(`../../../contracts/artifacts/${name}.json`, import.meta.url));

/** The node mines each transaction at once, but answers before it did. */
async function receiptOf(rpc: JsonRpc, hash: unknown): Promise<Record<string, unknown>> {
  for (let polls = 0; polls < 1_000; polls++) {
    const receipt = await rpc.call("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return receipt as Record<string, unknown>;
    await sleep(5);
  }
  throw new Error(`${String(hash)} was not mined`);
}

/** Starts a chain of one transaction a block and builds everything on it. */
export async function startChain(flags: readonly string[] = []): Promise<Chain> {
  const anvil = await startBareAnvil({ flags });
  const rpc = createJsonRpc({ url: anvil.rpcUrl, timeoutMs: 20_000, maxBytes: 10_000_000 });
  const wallet = new Wallet(`0x${"11".repeat(32)}`);
  const relayer = new Wallet(`0x${"22".repeat(32)}`);
  const ask = (method: string, ...params: readonly unknown[]) => rpc.call(method, params);

  const mined = async (hash: unknown): Promise<MinedTransaction> => {
    const receipt = await receiptOf(rpc, hash);
    const block = (await ask("eth_getBlockByNumber", receipt.blockNumber, false)) as { readonly timestamp: string };
    return {
      hash: String(receipt.transactionHash) as Hex,
      blockNumber: Number(receipt.blockNumber),
      succeeded: receipt.status === "0x1",
      contractAddress: receipt.contractAddress ? toAddress(String(receipt.contractAddress)) : undefined,
      blockTimeSeconds: Number(block.timestamp),
      ...{ gasUsed: BigInt(String(receipt.gasUsed)), gasPrice: BigInt(String(receipt.effectiveGasPrice)) },
      logs: receipt.logs as MinedTransaction["logs"],
    };
  };
  const send: Chain["send"] = async (from, to, data, value = 0n) =>
    mined(await ask("eth_sendTransaction", { from, to, data, value: `0x${value.toString(16)}`, gas: "0x6acfc0" }));
  const deploy = async ({ abi, bytecode }: Artifact, ...values: readonly unknown[]): Promise<Contract> => {
    const data = bytecode + AbiCoder.defaultAbiCoder().encode(abi.deploy.inputs, values).slice(2);
    const { contractAddress } = await mined(
      await ask("eth_sendTransaction", { from: DEPLOYER, data, gas: "0x6acfc0" }),
    );
    if (contractAddress === undefined) throw new Error("not deployed");
    return { address: contractAddress, abi };
  };
  const act = async (contract: Contract, method: string, ...values: readonly unknown[]) => {
    const result = await send(DEPLOYER, contract.address, contract.abi.encodeFunctionData(method, values) as Hex);
    if (!result.succeeded) throw new Error(`${method} reverted`);
  };

  const weth = await deploy(own("WrappedNative"));
  const usdc = await deploy(own("PermitToken"), "USD Coin", "USDC", 6);
  const dai = await deploy(own("PermitToken"), "Dai Stablecoin", "DAI", 18);
  const factory = await deploy(artifact(require.resolve("@uniswap/v2-core/build/UniswapV2Factory.json")), DEPLOYER);
  const minter = await deploy(own("PoolMinter"));
  const executor = await deploy(own("SwapdExecutor"), weth.address, [[1, factory.address, 3000, ZeroHash]]);
  const settlement = await deploy(own("SwapdSettlement"), weth.address, executor.address);
  const foreignSettlement = await deploy(own("SwapdSettlement"), weth.address, executor.address);

  const call: Chain["call"] = async (contract, method, ...values) => {
    const data = contract.abi.encodeFunctionData(method, values);
    const answer = await ask("eth_call", { to: contract.address, data }, "latest");
    return contract.abi.decodeFunctionResult(method, String(answer))[0];
  };
  const pair: Chain["pair"] = async (a, b) => toAddress(String(await call(factory, "getPair", a, b)));

  await ask("anvil_setBalance", DEPLOYER, `0x${(10n ** 25n).toString(16)}`);
  await send(DEPLOYER, weth.address, weth.abi.encodeFunctionData("deposit") as Hex, POOL_TOKENS * 2n);
  for (const token of [usdc, dai]) await act(token, "mint", DEPLOYER, POOL_TOKENS * 10n);
  for (const token of [weth, usdc, dai]) await act(token, "approve", minter.address, POOL_TOKENS * 10n);
  for (const [a, b] of [
    [weth, usdc],
    [usdc, dai],
  ] as const) {
    await act(factory, "createPair", a.address, b.address);
    await act(minter, "addV2", await pair(a.address, b.address), POOL_TOKENS, POOL_TOKENS);
  }
  for (const { address } of [wallet, relayer]) {
    await ask("anvil_setBalance", address, `0x${(10n ** 20n).toString(16)}`);
  }
  for (const token of [usdc, dai]) await act(token, "mint", wallet.address, 10n ** 12n);

  return {
    rpcUrl: anvil.rpcUrl,
    chainId: anvil.chainId,
    rpc,
    tokens: {
      WETH: { address: weth.address, symbol: "WETH", decimals: 18 },
      USDC: { address: usdc.address, symbol: "USDC", decimals: 6 },
      DAI: { address: dai.address, symbol: "DAI", decimals: 18 },
      ETH: { address: NATIVE_TOKEN, symbol: "ETH", decimals: 18 },
    },
    contracts: { weth, usdc, dai, settlement, foreignSettlement },
    wallet,
    relayer,
    pair,
    call,
    send,
    sendRaw: async (raw) => mined(await ask("eth_sendRawTransaction", raw)),
    nativeBalance: async (owner) => BigInt(String(await ask("eth_getBalance", owner, "latest"))),
    snapshot: () => ask("evm_snapshot"),
    revert: async (id) => void (await ask("evm_revert", id)),
    stop: anvil.stop,
  };
}
