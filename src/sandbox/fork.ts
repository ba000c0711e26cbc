import { z } from "zod";
import type { Address } from "../domain/money/address.ts";
import { ethereum } from "../networks/ethereum.ts";
import type { FactoryFacts, TokenFacts } from "../networks/network.ts";
import { DEPLOYER, RELAYER, TRADER, WALLET } from "./accounts.ts";
import { loadContract } from "./artifacts.ts";
import { RELAYER_NATIVE, SYMBOLS, TOKENS, type TokenSymbol, WALLET_FUNDS, WALLET_NATIVE } from "./plan.ts";
import type { Rpc } from "./rpc.ts";
import { SandboxError } from "./sandbox-error.ts";
import { deploySettlement } from "./settlement.ts";
import { encodeCall, perform, quantity, readNonces } from "./transactions.ts";
import type { SandboxWorld } from "./world.ts";

/** What a chain has already: the sandbox on a fork uses these instead of its own. */
interface KnownChain {
  readonly tokens: Readonly<Record<TokenSymbol, Address>>;
  readonly feeds: Readonly<Record<TokenSymbol, Address>>;
  readonly protocols: readonly FactoryFacts[];
}

/** Ethereum, from the book: it has each token of the sandbox, with a feed. */
export const ETHEREUM: KnownChain = {
  tokens: bySymbol(({ address }) => address),
  feeds: bySymbol(({ feed }) => feed?.address),
  protocols: ethereum.protocols,
};

const KNOWN_CHAINS: Readonly<Record<number, KnownChain>> = { [ethereum.chainId]: ETHEREUM };

function bySymbol(pick: (token: TokenFacts) => Address | undefined): Record<TokenSymbol, Address> {
  const found = SYMBOLS.map((symbol) => {
    const token = ethereum.tokens.get(symbol);
    const address = token && pick(token);
    if (address === undefined) throw new Error(`the book's ethereum lacks ${symbol}, or its feed`);
    return [symbol, address];
  });
  return Object.fromEntries(found) as Record<TokenSymbol, Address>;
}

const COIN = 10n ** 18n;
const FORK_CHECK_TIMEOUT_MS = 10_000;
const chainIdAnswerSchema = z.object({ result: z.string() });

/**
 * Asks the endpoint which chain it serves.
 * @throws SandboxError `FORK_UNREACHABLE` or `FORK_UNSUPPORTED`; the URL may carry a key, so only its host is named
 */
export async function checkFork(forkUrl: string): Promise<number> {
  const chainId = await readForkChainId(forkUrl);
  if (KNOWN_CHAINS[chainId] !== undefined) return chainId;
  const known = Object.keys(KNOWN_CHAINS).join(", ");
  throw new SandboxError(
    "FORK_UNSUPPORTED",
    `The endpoint serves chain ${chainId}, whose tokens and feeds are not known here. Forks work of chain ${known}.`,
  );
}

/** Asks the endpoint which chain it serves. @throws SandboxError `FORK_UNREACHABLE`; only the URL's host is named */
export async function readForkChainId(forkUrl: string): Promise<number> {
  const host = URL.parse(forkUrl)?.host;
  if (host === undefined) throw new SandboxError("FORK_UNREACHABLE", "The URL to fork from is no URL.");
  try {
    const response = await fetch(forkUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }),
      redirect: "error",
      signal: AbortSignal.timeout(FORK_CHECK_TIMEOUT_MS),
    });
    return Number(chainIdAnswerSchema.parse(await response.json()).result);
  } catch {
    // The cause's text may hold the URL with its key, so it is left behind.
    const message = `The endpoint to fork from (${host}) did not report its chain id. Check the URL and the network.`;
    throw new SandboxError("FORK_UNREACHABLE", message);
  }
}

/**
 * Makes a world on a fork: the chain's own tokens, pools and feeds, our settlement contracts, funded accounts. Nothing
 * moves the market there, and its feeds age: they are those of the moment of the fork.
 */
export async function buildForkedWorld(
  rpc: Rpc,
  options: { forkedChainId: number; seed: number; executorKind?: (kind: number) => number | undefined },
): Promise<SandboxWorld> {
  const chain = KNOWN_CHAINS[options.forkedChainId];
  if (chain === undefined) throw new Error(`chain ${options.forkedChainId} was not checked before`);
  const accounts = [DEPLOYER.address, WALLET.address, RELAYER.address];
  // The keys of these accounts are public, and on real chains they delegate to thieves' contracts.
  await rpc.batch(accounts.map((account) => ({ method: "anvil_setCode", params: [account, "0x"] })));
  await fundOnFork(rpc, chain);
  const nonces = await readNonces(rpc, [DEPLOYER.address]);
  const { executorKind = (kind) => kind } = options;
  const listed = chain.protocols.flatMap((protocol) => {
    const kind = executorKind(protocol.kind);
    return kind === undefined ? [] : [{ ...protocol, kind }];
  });
  const contracts = await deploySettlement(rpc, nonces, { wrappedNative: chain.tokens.WETH, protocols: listed });
  const tokens = Object.fromEntries(
    SYMBOLS.map((symbol) => {
      return [symbol, { address: chain.tokens[symbol], decimals: TOKENS[symbol].decimals, feed: chain.feeds[symbol] }];
    }),
  ) as SandboxWorld["tokens"];
  return {
    rpcUrl: rpc.url,
    chainId: Number(await rpc.call("eth_chainId")),
    network: "sandbox",
    wrappedNative: chain.tokens.WETH,
    ...contracts,
    protocols: chain.protocols,
    tokens,
    feeds: { ...chain.feeds, ETH: chain.feeds.WETH },
    pools: [],
    wallet: WALLET,
    relayer: RELAYER,
    traders: [TRADER],
    market: { seed: options.seed },
  };
}

async function fundOnFork(rpc: Rpc, chain: KnownChain): Promise<void> {
  const native = [
    [DEPLOYER.address, 1_000n],
    [WALLET.address, WALLET_NATIVE],
    [RELAYER.address, RELAYER_NATIVE],
  ] as const;
  await rpc.batch(
    native.map(([owner, coins]) => ({ method: "anvil_setBalance", params: [owner, quantity(coins * COIN)] })),
  );
  const wrapped = loadContract("WrappedNative");
  const nonces = await readNonces(rpc, [DEPLOYER.address]);
  const value = WALLET_FUNDS.WETH * COIN;
  const from = DEPLOYER.address;
  const to = chain.tokens.WETH;
  await perform(rpc, nonces, [
    { label: "wrapping the native coin", from, to, data: encodeCall(wrapped, "deposit"), value },
    { label: "funding the wallet with WETH", from, to, data: encodeCall(wrapped, "transfer", WALLET.address, value) },
  ]);
  for (const symbol of SYMBOLS.filter((name) => name !== "WETH")) {
    const raw = WALLET_FUNDS[symbol] * 10n ** BigInt(TOKENS[symbol].decimals);
    await rpc.call("anvil_dealERC20", WALLET.address, chain.tokens[symbol], quantity(raw));
  }
}
