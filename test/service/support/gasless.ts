import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "./chain.ts";
import type { Answer, Client } from "./client.ts";
import type { Market } from "./market.ts";
import { createWallet, giveTokens, type TestWallet } from "./wallet.ts";

const EXECUTE = "/user-manager/execute-swap";

/** Somebody with dollars and without a wei for gas. */
export async function newSeller(chain: TestChain, market: Market, amount = 5_000_000_000n): Promise<TestWallet> {
  const seller = createWallet();
  await giveTokens(chain, market.usdc, { to: seller.address, amount });
  return seller;
}

/** Asks for a gasless quote of 3,000 dollars. */
export async function gaslessQuote(client: Client, market: Market, seller: TestWallet): Promise<Answer> {
  return await client.get("/aggregator/quote", {
    network: "testnet",
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    sellAmount: "3000000000",
    slippage: "0.05",
    fromAddress: seller.address,
    gasless: "true",
  });
}

/** Signs a quote and submits it. */
export async function submitOrder(client: Client, seller: TestWallet, quote: Answer["body"]): Promise<Answer> {
  return await client.post(EXECUTE, {
    networkName: "testnet",
    quoteId: quote.id as string,
    swapSignature: await seller.sign(quote.typedData),
    ...(quote.permit === null
      ? {}
      : {
          permitSignature: await seller.sign(quote.permit),
          permitDeadline: Number(quote.permit.message.deadline),
        }),
  });
}

/** Looks at the record of a quote's swap until it is as wanted. */
export async function followSwap(
  client: Client,
  quoteId: string,
  until: (record: Answer["body"]) => boolean,
  between: () => Promise<unknown> = async () => undefined,
): Promise<Answer["body"]> {
  let last: Answer["body"];
  for (let attempt = 0; attempt < 150; attempt += 1) {
    last = (await client.get("/user-manager/swap", { quoteId })).body;
    if (until(last)) return last;
    await between();
    await sleep(100);
  }
  throw new Error(`the swap of quote ${quoteId} did not get there in time: ${JSON.stringify(last)}`);
}
