import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import type { ServiceOptions, SwapServiceKind } from "../../../src/adapters/swap-service/service-kind.ts";
import { swapd } from "../../../src/adapters/swap-service/swapd/service.ts";
import { createWireClient } from "../../../src/adapters/swap-service/wire/client.ts";
import type { Dialect } from "../../../src/adapters/swap-service/wire/dialect.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { LimitedAnswer, RateLimiter } from "../../../src/ports/rate-limiter.ts";
import type { QuoteRequest } from "../../../src/ports/swap-service.ts";
import { AFFILIATE, OWNER, ROUTER, STRANGER, USDC, WETH } from "../../domain/guard/swap-samples.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { silentLogger } from "../../support/silent-logger.ts";

export const KEY = "canary-key-0123456789";
export const HASH = `0x${"ab".repeat(32)}` as const;

export const request: QuoteRequest = {
  sell: { symbol: "USDC", address: USDC, decimals: 6 },
  buy: { symbol: "WETH", address: WETH, decimals: 18 },
  amount: 100_000_000n,
  slippage: toPpm(5_000),
  owner: OWNER,
  recipient: STRANGER,
  gasless: true,
  enableRfq: true,
  affiliate: { address: AFFILIATE, fee: toPpm(10_000) },
};

export const wireQuote = {
  id: "0b5f9a52-6b5c-4f43-9f1b-1c3f6f7f6a11",
  amountOut: "123456789012345678901",
  targetAddress: "0x1111111111111111111111111111111111111111",
  fees: [{ type: "gas", value: "42" }],
  resourceEstimate: { gasLimit: "210000" },
  typedData: {
    domain: { name: "swapd", version: "1", chainId: "31337", verifyingContract: ROUTER },
    types: { Swap: [{ name: "router", type: "address" }] },
    message: { router: ROUTER, deadline: 1_700_000_000 },
  },
  priceImpact: "0.0012345",
  expiresAt: 1_700_000_020,
  blockNumber: 7,
  somethingNew: { nobody: "knows" },
};

/** Lets every call pass at once, and remembers what it observed. */
function openLimiter(): RateLimiter & { readonly observed: (LimitedAnswer | "lost")[]; acquired: string[] } {
  const observed: (LimitedAnswer | "lost")[] = [];
  const acquired: string[] = [];
  return {
    observed,
    acquired,
    acquire: (priority) => {
      acquired.push(priority);
      return Promise.resolve("granted");
    },
    observe: (answer) => void observed.push(answer),
  };
}

export async function serviceWith(
  handle: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  change: Partial<ServiceOptions> & { readonly kind?: SwapServiceKind; readonly dialect?: Dialect } = {},
) {
  const requests: { method: string; url: URL; headers: IncomingMessage["headers"] }[] = [];
  const server = await startHttpServer((incoming, response) => {
    const url = new URL(incoming.url ?? "/", "http://service");
    requests.push({ method: incoming.method ?? "", url, headers: incoming.headers });
    handle(incoming, response, requests.length);
  });
  const limiter = openLimiter();
  const logger = silentLogger();
  const { kind = swapd, dialect, ...others } = change;
  const options = {
    ...{ baseUrl: `${server.url}/`, network: "sandbox", chainId: 31_337, apiKey: new Secret(KEY) },
    ...{ timeoutMs: 2_000, maxBytes: 64_000, ...others },
  };
  const dependencies = { limiter, clock: systemClock, logger };
  const asOurs = { profile: kind.profile, takesTimeLimit: true, recordsByQuoteAlone: true };
  const service =
    dialect === undefined
      ? kind.open(options, dependencies)
      : createWireClient({ ...asOurs, dialect }, options, dependencies);
  return { service, requests, limiter, logger };
}

export const json = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
};
