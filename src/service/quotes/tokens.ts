import type { ReadWords } from "../../chain/at-block/batch-reader.ts";
import type { JsonRpc } from "../../chain/json-rpc.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import { type NetworkOptions, spenderOf } from "../options.ts";
import { SELECTOR } from "../pools/selectors.ts";
import { detectPermit, type PermitSupport } from "../settlement/permit.ts";
import { createAddressMemory } from "../tokens/address-memory.ts";
import { MAX_DECIMALS } from "../tokens/token-facts.ts";

/** What the service learnt of tokens. */
export interface Tokens {
  /** Whether this is the native token or a contract that says how many decimals it has. */
  isToken(address: Address, read: ReadWords): Promise<boolean>;
  permitSupport(address: Address): Promise<PermitSupport>;
}

/** A token does not lose its decimals; an address without may get a contract. */
const UNKNOWN_FOR_MS = 30_000;
/** A token behind a proxy can get permits, or another domain for those that it has. */
const PERMIT_FOR_MS = 10 * 60_000;

export function createTokens(
  options: { rpc: JsonRpc; network: Pick<NetworkOptions, "chainId" | "settlement" | "wrappedNative"> },
  clock: Clock,
): Tokens {
  const { rpc, network } = options;
  const decimals = createAddressMemory<boolean>(clock, (known) => (known ? Number.POSITIVE_INFINITY : UNKNOWN_FOR_MS));
  const permits = createAddressMemory<PermitSupport>(clock, () => PERMIT_FOR_MS);
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
