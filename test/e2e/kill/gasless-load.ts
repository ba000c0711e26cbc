import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Wallet } from "ethers";
import type { KillWorld } from "./kill-world.ts";
import { after } from "./processes.ts";

/** A signed swap that was handed to the service, perhaps again and again. */
export interface HandedOver {
  readonly quoteId: string;
  readonly wallet: string;
  /** of the order */
  readonly nonce: string;
  readonly token: string;
  readonly sellAmount: string;
  /** the id under which the service said that it took it; undefined: it never said so */
  acceptedAs: string | undefined;
  /** what the service said instead */
  refused: string | undefined;
}

/** Somebody who sells gasless all the time, through a service that is killed all the time. */
export interface GaslessLoad {
  readonly handedOver: readonly HandedOver[];
  /** Answers that contradict each other. */
  readonly violations: readonly string[];
  /** Hands nothing more over, and waits for what is under way. */
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  readonly body: any;
}

const ANSWER_WITHIN_MS = 3_000;
const AGAIN_AFTER_MS = 100;
/** A swap's deadline is past by then. */
const OVER_WITHIN_MS = 6_000;

/** What is sold: tokens with a permit, in their smallest unit. */
const SALES = [
  { symbol: "USDC", amount: 50_000_000n, into: "WETH" },
  { symbol: "DAI", amount: 60n * 10n ** 18n, into: "USDC" },
] as const;

/** Starts one seller for each wallet and token. A body that got no answer is sent again, because that must be harmless. */
export function startGaslessLoad(world: KillWorld): GaslessLoad {
  const facts = JSON.parse(readFileSync(join(world.directory, ".swapd", "sandbox", "world.json"), "utf8")) as {
    tokens: Record<string, { address: string }>;
  };
  const stopping = new AbortController();
  const handedOver: HandedOver[] = [];
  const violations: string[] = [];
  const sellers = world.tracks.flatMap((track, index) =>
    SALES.map(async ({ symbol, amount, into }) => {
      const seller = {
        wallet: new Wallet(track.around.env.KILL_WALLET ?? ""),
        from: facts.tokens[symbol]?.address ?? "",
        to: facts.tokens[into]?.address ?? "",
        key: `key-of-daemon-${index + 1}`,
      };
      for (let round = 0n; !stopping.signal.aborted; round += 1n) {
        await sellOnce(world.serviceUrl, { ...seller, amount: amount + round }, { handedOver, violations, stopping });
      }
    }),
  );
  return {
    handedOver,
    violations,
    async stop() {
      stopping.abort();
      await Promise.all(sellers);
    },
  };
}

interface Sale {
  readonly wallet: Wallet;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  readonly key: string;
}

interface Books {
  readonly handedOver: HandedOver[];
  readonly violations: string[];
  readonly stopping: AbortController;
}

async function sellOnce(url: string, sale: Sale, { handedOver, violations, stopping }: Books): Promise<void> {
  const query = new URLSearchParams({
    network: "sandbox",
    fromTokenAddress: sale.from,
    toTokenAddress: sale.to,
    sellAmount: String(sale.amount),
    slippage: "0.05",
    fromAddress: sale.wallet.address,
    gasless: "true",
  });
  const quote = await ask(`${url}/aggregator/quote?${query}`, { headers: { apikey: sale.key } });
  if (quote?.status !== 200 || quote.body.permit === null) {
    await after(AGAIN_AFTER_MS);
    return;
  }
  const { id, typedData, permit } = quote.body;
  const body = JSON.stringify({
    networkName: "sandbox",
    quoteId: id,
    swapSignature: await sale.wallet.signTypedData(typedData.domain, typedData.types, typedData.message),
    permitSignature: await sale.wallet.signTypedData(permit.domain, permit.types, permit.message),
    permitDeadline: Number(permit.message.deadline),
  });
  const swap: HandedOver = {
    quoteId: id,
    wallet: sale.wallet.address.toLowerCase(),
    nonce: typedData.message.nonce,
    token: sale.from.toLowerCase(),
    sellAmount: String(sale.amount),
    acceptedAs: undefined,
    refused: undefined,
  };
  handedOver.push(swap);
  const endMs = performance.now() + OVER_WITHIN_MS;
  while (performance.now() < endMs && !stopping.signal.aborted) {
    const request = { method: "POST", body, headers: { apikey: sale.key, "content-type": "application/json" } };
    const answer = await ask(`${url}/user-manager/execute-swap`, request);
    if (answer !== undefined && !noteAnswer(swap, answer, violations)) return;
    await after(AGAIN_AFTER_MS);
  }
}

/** The same body again and again must be the same swap for ever. @returns whether the swap goes on */
function noteAnswer(swap: HandedOver, { status, body }: Answer, violations: string[]): boolean {
  if (status === 200) {
    if (swap.acceptedAs !== undefined && swap.acceptedAs !== body.id) {
      violations.push(`quote ${swap.quoteId} is swap ${swap.acceptedAs}, and later ${body.id}`);
    }
    swap.acceptedAs = String(body.id);
    return body.status === "pending";
  }
  if (status >= 500) return true;
  swap.refused = String(body.error);
  if (swap.acceptedAs !== undefined) {
    violations.push(`quote ${swap.quoteId} was taken as ${swap.acceptedAs} and later refused: ${swap.refused}`);
  }
  return false;
}

/** @returns undefined when no answer came */
async function ask(url: string, request: RequestInit): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return { status: response.status, body: await response.json() };
  } catch {
    // The service is dead, or died over it: nobody knows what became of the request.
    return undefined;
  }
}
