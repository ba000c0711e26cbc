import { AbiCoder } from "ethers";
import type { Configuration } from "../../config/configuration.ts";
import { ChainReadError } from "../../domain/chain-read-error.ts";
import { DEFAULT_SIMULATION_METHODS, formatMethods } from "../../domain/guard/simulation-method.ts";
import { type Address, toAddress } from "../../domain/money/address.ts";
import { describeDollars } from "../../domain/money/for-people.ts";
import type { UsdPrice } from "../../domain/money/price.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { Chain } from "../../ports/chain.ts";
import { judgeAbilities, silencesOf } from "../abilities.ts";
import { CommandFailure } from "../exit-codes.ts";
import { openChain } from "../open-chain.ts";
import { openPrices } from "../open-prices.ts";
import type { Runtime } from "../runtime.ts";

/** What a chain says; or why it says nothing. */
export type Said<T> = T | { readonly problem: string };

/** Asks a chain, and makes a sentence of what keeps it from answering. */
async function askChain<T>(
  configuration: Configuration,
  runtime: Runtime,
  work: (chain: Chain) => Promise<T>,
): Promise<Said<T>> {
  try {
    return await work(openChain(configuration, runtime.secrets));
  } catch (error) {
    // A secret that is missing, a node that does not answer, another chain: all are in words.
    if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) throw error;
    const whatToDo =
      error instanceof CommandFailure ? "" : "; correct the endpoint, or look at the files alone with --offline";
    return { problem: `${runtime.redactor.redact(error.message)}${whatToDo}` };
  }
}

/** Whether the endpoints are of the chain and can do what trading needs, in words. */
export async function lookAtEndpoints(
  configuration: Configuration,
  runtime: Runtime,
): Promise<Said<readonly string[]>> {
  return await askChain(configuration, runtime, async (chain) => {
    const head = await chain.latest();
    const reports = await chain.abilities();
    const { problems, warnings, ways } = judgeAbilities(reports, DEFAULT_SIMULATION_METHODS);
    const { name, chainId } = configuration.network;
    const age = Math.max(0, Math.floor(Date.now() / 1_000) - head.timestamp);
    const wrong = [...problems, ...(await otherChains(configuration, runtime))];
    if (wrong.length > 0) return { problem: wrong.join("; ") };
    return [
      `chain ${chainId} (${name}), block ${head.number}, ${formatDuration(age * 1_000)} old; transactions are simulated by ${formatMethods(ways.slice(0, 1))}`,
      ...[...warnings, ...silencesOf(reports)].map((warning) => `warning: ${warning}`),
    ];
  });
}

/** Which endpoints are of another chain, in words: each is asked by itself, because of a pool the others answer. */
async function otherChains(configuration: Configuration, runtime: Runtime): Promise<readonly string[]> {
  const { network } = configuration;
  const asked = network.rpc.map(async (endpoint) => {
    const alone = { ...configuration, network: { ...network, rpc: [endpoint], submit: { kind: "public" } as const } };
    try {
      await openChain(alone, runtime.secrets).latest();
    } catch (error) {
      if (!(error instanceof ChainReadError)) throw error;
      return error.code === "wrong chain" ? [error.message] : [];
    }
    return [];
  });
  return (await Promise.all(asked)).flat();
}

/** What a token of the configuration is on its chain: its place, and its dollars by its feed. */
export async function lookAtToken(
  configuration: Configuration,
  runtime: Runtime,
  symbol: string,
): Promise<Said<{ readonly words: string; readonly usd: UsdPrice | undefined }>> {
  const token = configuration.tokens.get(symbol)?.token;
  if (token === undefined) return { problem: `${symbol} is not among the tokens of the draft` };
  return await askChain(configuration, runtime, async (chain) => {
    const decimals = await chain.decimals(token.address);
    if (decimals !== token.decimals) {
      const found = decimals === undefined ? "no token" : `a token with ${decimals} decimals`;
      return { problem: `the chain has ${found} where the book has ${symbol}: is the endpoint of this network?` };
    }
    const price = await openPrices(configuration, chain).price(token);
    if ("missing" in price) {
      return { words: `no fresh price now (${price.detail}), and without one nothing is traded`, usd: undefined };
    }
    return { words: `1 ${symbol} is ${describeDollars(price.usd)} by its ${price.source}`, usd: price.usd };
  });
}

const SYMBOL = "0x95d89b41";

/** What a contract calls itself; undefined where it does not say. */
export async function symbolAt(
  configuration: Configuration,
  runtime: Runtime,
  address: Address,
): Promise<Said<{ readonly symbol: string | undefined }>> {
  return await askChain(configuration, runtime, async (chain) => {
    const answer = await chain.call({ to: toAddress(address), data: SYMBOL });
    return { symbol: answer === undefined ? undefined : decodedText(answer) };
  });
}

/** A string, or 32 bytes of text as old tokens give. */
function decodedText(answer: string): string | undefined {
  try {
    const [text] = AbiCoder.defaultAbiCoder().decode(["string"], answer);
    return printable(String(text));
  } catch {
    // It is not a string; the first word may be text itself.
    return printable(Buffer.from(answer.slice(2, 66), "hex").toString("utf8").replaceAll("\0", ""));
  }
}

/** Whoever made the contract chose the text: nothing of it may speak to a terminal. */
function printable(text: string): string | undefined {
  const shown = text
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .slice(0, 32)
    .trim();
  return shown === "" ? undefined : shown;
}
