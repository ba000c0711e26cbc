import type { ReadWords } from "../../chain/at-block/batch-reader.ts";
import type { JsonRpc } from "../../chain/json-rpc.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import { type NetworkOptions, spenderOf } from "../options.ts";
import { SELECTOR } from "../pools/selectors.ts";
import { detectPermit, type PermitSupport } from "../settlement/permit.ts";
import { MAX_DECIMALS } from "../tokens/token-facts.ts";

/** What the service learnt of tokens. */
export interface Tokens {
  /** Whether this is the native token or a contract that says how many decimals it has. */
  isToken(address: Address, read: ReadWords): Promise<boolean>;
  permitSupport(address: Address): Promise<PermitSupport>;
}

/** A token does not lose its decimals; an address without may get a contract. */
const UNKNOWN_FOR_MS = 30_000;
const WITHOUT_PERMIT_FOR_MS = 10 * 60_000;
const MAX_TOKENS = 20_000;

interface Entry<T> {
  readonly answer: Promise<T>;
  untilMs: number;
}

/** Remembers answers about addresses: good ones for ever, others for a while, failures not at all. */
function createMemory<T>(clock: Clock, options: { isLasting: (answer: T) => boolean; otherwiseForMs: number }) {
  const entries = new Map<Address, Entry<T>>();
  return (address: Address, ask: () => Promise<T>): Promise<T> => {
    const known = entries.get(address);
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.answer;
    const entry: Entry<T> = { answer: ask(), untilMs: clock.monotonicMs() + options.otherwiseForMs };
    entries.delete(address);
    entries.set(address, entry);
    entry.answer.then(
      (answer) => {
        if (options.isLasting(answer)) entry.untilMs = Number.POSITIVE_INFINITY;
      },
      () => entries.delete(address),
    );
    const oldest = entries.size > MAX_TOKENS ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    return entry.answer;
  };
}

export function createTokens(
  options: { rpc: JsonRpc; network: Pick<NetworkOptions, "chainId" | "settlement" | "wrappedNative"> },
  clock: Clock,
): Tokens {
  const { rpc, network } = options;
  const decimals = createMemory<boolean>(clock, { isLasting: (known) => known, otherwiseForMs: UNKNOWN_FOR_MS });
  const permits = createMemory<PermitSupport>(clock, {
    isLasting: (support) => support.kind !== "none",
    otherwiseForMs: WITHOUT_PERMIT_FOR_MS,
  });
  return {
    async isToken(address, read) {
      if (address === NATIVE_TOKEN) return true;
      return decimals(address, async () => {
        const words = await read(address, SELECTOR.decimals, 1);
        return words !== undefined && (words[0] ?? MAX_DECIMALS + 1n) <= MAX_DECIMALS;
      });
    },
    permitSupport(address) {
      return permits(address, () =>
        // What a token can do does not depend on who may take.
        detectPermit(rpc, address, {
          chainId: network.chainId,
          spender: spenderOf(network) ?? network.wrappedNative,
        }),
      );
    },
  };
}
