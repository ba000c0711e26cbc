import { createPaperBook } from "../../src/adapters/paper/paper-book.ts";
import { paperSigner } from "../../src/adapters/paper/paper-bytes.ts";
import { createPaperChain } from "../../src/adapters/paper/paper-chain.ts";
import { createPaperService } from "../../src/adapters/paper/paper-service.ts";
import { openPaperRows } from "../../src/adapters/sqlite/paper/open-paper-rows.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import type { Chain } from "../../src/ports/chain.ts";
import type { SwapService } from "../../src/ports/swap-service.ts";
import { ETH, ROUTER, USDC, WETH } from "./builders.ts";
import { ACCOUNT, type Life, type Outside, openLife } from "./engine-life.ts";

const TOKENS = [USDC, WETH, ETH];
/** What the account of these tests has on the chain; on paper it begins with that, and the chain's own is left alone. */
const BEGINS = new Map([
  [USDC.address, 1_000_000_000n],
  [WETH.address, 3n * 10n ** 18n],
  [ETH.address, 10n ** 19n],
]);

/** A life in mode paper: the same engine, with what happens on paper between it and the world. */
export function openPaperLife(outside: Outside, options: Parameters<typeof openLife>[1] = {}): Life {
  return openLife(outside, {
    ...options,
    signer: paperSigner(ACCOUNT),
    seenBy: (db) => {
      const { broadcast: _, submitEndpoints: __, ...chain } = spread<Chain>(outside.chain);
      const rows = openPaperRows(db);
      const book = createPaperBook({
        accounts: [{ address: ACCOUNT, amounts: BEGINS }],
        ...{ recipients: [ACCOUNT], tokens: TOKENS.map(({ address }) => address), spenders: [ROUTER], rows, chain },
      });
      const pinned = { chainId: chain.chainId, contracts: oneContract(ROUTER), wrappedNative: WETH.address };
      return {
        chain: createPaperChain({
          ...{ chain, rows, book, service: () => outside.service, pinned, dataFee: async () => undefined },
          tokenOf: (address) => TOKENS.find((token) => token.address === address),
        }),
        service: createPaperService(spread<SwapService>(outside.service), { rows, clock: outside.clock }),
      };
    },
  });
}

/** A double's methods as an object's own, which can be spread. */
function spread<T extends object>(double: T): T {
  const names = new Set<string>();
  for (let of: object = double; of !== Object.prototype; of = Object.getPrototypeOf(of))
    for (const name of Object.getOwnPropertyNames(of)) names.add(name);
  const own = [...names]
    .map((name) => [name, Reflect.get(double, name)] as const)
    .map(([name, part]) => [name, typeof part === "function" ? part.bind(double) : part]);
  return Object.fromEntries(own) as T;
}
