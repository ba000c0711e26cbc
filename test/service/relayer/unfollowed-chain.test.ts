import { id } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/service/service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { createClient } from "../support/client.ts";
import { gaslessQuote, newSeller } from "../support/gasless.ts";
import { type Lie, startLyingNode } from "../support/lying-node.ts";
import { deployMarket, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";

const NODES: readonly (readonly [name: string, lieOf: (chain: TestChain) => Lie, detail: RegExp, type: 0 | 2])[] = [
  [
    "on a network without base fees",
    (chain) =>
      async ({ method, params }) => {
        if (method !== "eth_getBlockByNumber") return undefined;
        const { baseFeePerGas: _, ...answer } = (await chain.rpc.call(method, params)) as Record<string, unknown>;
        return { answer };
      },
    /the chain cannot be followed.*base fee/,
    0,
  ],
  [
    "on nodes that know no final block",
    () =>
      async ({ method, params }) =>
        method === "eth_getBlockByNumber" && params[0] === "finalized" ? { answer: null } : undefined,
    /the chain cannot be followed.*finalized block/,
    2,
  ],
];

test.for(NODES)("%s no gasless swap is taken, which would never end; others are", async ([, lieOf, detail, type]) => {
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  const market = await deployMarket(chain);
  const node = await startLyingNode(() => chain.url);
  onTestFinished(() => node.stop());
  node.lie(lieOf(chain));
  const parts = relayerParts({ ...chain, url: node.url }, id("unfollowed-chain"));
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  const network = { relayer: RELAYER_SETTINGS, rpcUrls: [node.url] };
  const logger = createRecordingLogger();
  const service = await startService(
    serviceOptions(chain, market, { database: `${temporaryDirectory()}/service.db`, network }),
    { logger, clock: systemClock, relayers: new Map([["testnet", parts]]) },
  );
  onTestFinished(() => service.stop());
  const client = await createClient(service.url);
  const quote = await gaslessQuote(client, market, await newSeller(chain, market));
  expect(quote).toMatchObject({ status: 400, body: { error: "GASLESS_UNAVAILABLE" } });
  const { body: health } = await client.get("/health");
  expect(health).toMatchObject({ status: "ok", gasless: false, relayer: { refusal: "GASLESS_UNAVAILABLE" } });
  expect(logger.lines).toContainEqual(
    expect.objectContaining({
      message: "the relayer takes no gasless swaps",
      fields: expect.objectContaining({ detail: expect.stringMatching(detail) }),
    }),
  );
  const own = { fromTokenAddress: market.usdc, toTokenAddress: market.weth, amount: "3000000000", slippage: "0.005" };
  const request = { ...own, fromAddress: chain.deployer, gasless: "false" };
  const { status, body } = await client.get("/aggregator/quote/transaction", request);
  expect({ status, type: body.transaction.type }).toEqual({ status: 200, type });
});
