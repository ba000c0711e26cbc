import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, NATIVE_TOKEN, toAddress } from "../../../../src/domain/money/address.ts";
import { createRandom } from "../../../../src/sandbox/market/random.ts";
import { sqrtRatioAtTick } from "../../../../src/service/pools/uniswap-v3/tick-math.ts";
import { type Service, startService } from "../../../../src/service/service.ts";
import { verifySettlement } from "../../../../src/service/settlement/verify.ts";
import { startTestChain, type TestChain } from "../../support/chain.ts";
import { type Client, createClient } from "../../support/client.ts";
import { blocksOfSeconds, deviation, expectedGas, seasonPools, summary } from "../../support/gas-check.ts";
import { deployMarket, type Market, serviceOptions } from "../../support/market.ts";
import { execute, quoteAtHead } from "../../support/quoted-swap.ts";
import { createRecordingLogger } from "../../support/recording-logger.ts";
import { systemClock } from "../../support/system-clock.ts";
import { deployUniswapV4, type UniswapV4, type V4Key } from "../../support/uniswap-v4.ts";
import { balanceOf } from "../../support/wallet.ts";

/** `SWAPD_QUOTED_SWAPS=2000` is the long form; the seed is printed with a failure. */
const SWAPS = Number(process.env.SWAPD_QUOTED_SWAPS ?? 16);
const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandom(seed, 0, 0x7634);
/** Nobody's, so that all it has comes from the swaps. */
const RECIPIENT = toAddress("0x00000000000000000000000000000000000a11ce");

let chain: TestChain;
let market: Market;
let uniswap: UniswapV4;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-v4-"));

beforeAll(async () => {
  chain = await startTestChain();
  uniswap = await deployUniswapV4(chain);
  market = await deployMarket(chain, [uniswap.protocol]);
  const { weth, usdc, dai, usdt } = market;
  // Coins for as many sales as there may be.
  await chain.rpc.call("anvil_setBalance", [chain.deployer, "0xd3c21bcecceda1000000"]);
  await chain.send({ to: weth, data: "0xd0e30db0", value: 500_000n * 10n ** 18n });
  for (const token of [weth, usdc, dai, usdt]) await market.approve(token, uniswap.hand);
  // Prices of a coin of 18 decimals at 3,000 dollars of 6, and of 18, in the smallest units of both.
  const [coinIn6, coinIn18] = [-196_256, 80_067];
  await makePool([weth, usdc, 500, 10], coinIn6, 10n ** 15n);
  await makePool([NATIVE_TOKEN, usdc, 3_000, 60], coinIn6, 4n * 10n ** 15n);
  await makePool([NATIVE_TOKEN, dai, 500, 10], coinIn18, 10n ** 22n);
  await makePool([usdc, usdt, 100, 1], 0, 10n ** 14n, [500, 250]);
  await makePool([usdt, dai, 100, 1], 276_324, 10n ** 20n);
  const options = serviceOptions(chain, market, { database: join(directory, "service.db") });
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  client = await createClient(service.url);
  await blocksOfSeconds(chain);
  await seasonPools(chain, market, client);
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

type Plan = readonly [Address, Address, fee: number, spacing: number];

function sorted([first, second, fee, spacing]: Plan): V4Key {
  return first < second ? [first, second, fee, spacing, NATIVE_TOKEN] : [second, first, fee, spacing, NATIVE_TOKEN];
}

/** A deep pool within some narrower ones; traded with once in both directions, so that none of its slots is new. */
async function makePool(
  plan: Plan,
  tick: number,
  liquidity: bigint,
  ofProtocol: readonly [number, number] = [0, 0],
): Promise<void> {
  const [first, second, , spacing] = plan;
  const around = first < second ? tick : -tick;
  const center = Math.floor(around / spacing) * spacing;
  const range = (steps: number, part: bigint) => {
    return { lower: center - steps * spacing, upper: center + steps * spacing, liquidity: liquidity * part };
  };
  const positions = [range(2_000, 1n), range(300, 2n), range(40, 3n)];
  const key = sorted(plan);
  await uniswap.newPool(key, { sqrtPrice: sqrtRatioAtTick(around), positions });
  await uniswap.setProtocolFee(key, ...ofProtocol);
  for (const zeroForOne of [true, false]) await chain.send(uniswap.selling(key, zeroForOne, [liquidity / 10n ** 9n]));
}

/** A request between two random tokens, of a hundred to a hundred thousand dollars. */
function randomRequest(sources: string): Readonly<Record<string, string>> {
  const { weth, usdc, dai, usdt } = market;
  const dollars: [Address, number, decimals: number][] = [
    [weth, 3_000, 18],
    [NATIVE_TOKEN, 3_000, 18],
    [usdc, 1, 6],
    [dai, 1, 18],
    [usdt, 1, 6],
  ];
  const isCoin = (token: Address) => token === NATIVE_TOKEN || token === weth;
  const pick = <T>(list: readonly T[]) => list[Math.floor(random.uniform() * list.length)]!;
  const [from, price, decimals] = pick(dollars);
  const [to] = pick(dollars.filter(([token]) => token !== from && !(isCoin(token) && isCoin(from))));
  const value = 100 * 1_000 ** random.uniform();
  const amount = BigInt(Math.floor((value / price) * 1e6)) * 10n ** BigInt(decimals - 6);
  return {
    ...{ fromTokenAddress: from, toTokenAddress: to, slippage: "0.005", gasless: "false" },
    ...{ fromAddress: chain.deployer, toAddress: RECIPIENT, liquiditySources: sources },
    amount: (amount + BigInt(Math.floor(random.uniform() * 1_000))).toString(),
  };
}

async function held(token: string): Promise<bigint> {
  if (token !== NATIVE_TOKEN) return balanceOf(chain, token as Address, RECIPIENT);
  return BigInt((await chain.rpc.call("eth_getBalance", [RECIPIENT, "latest"])) as string);
}

interface WireLeg {
  readonly protocol: string;
}

async function swap(request: Readonly<Record<string, string>>) {
  const token = request.toTokenAddress as string;
  const before = await held(token);
  const { quote, transaction } = await quoteAtHead({ chain, client }, request);
  const { body } = await client.get("/aggregator/distributions", { quoteId: quote.id });
  const { isDone, gasUsed } = await execute(chain, transaction);
  const kinds = (body.distributions as WireLeg[]).map(({ protocol }) => protocol);
  const off = deviation(await expectedGas(chain, quote), gasUsed);
  return { isDone, quoted: BigInt(quote.amountOut), delivered: (await held(token)) - before, kinds, off, gasUsed };
}

describe("our own settlement trades in pools of Uniswap V4", () => {
  const ALL = "uniswap-v2,uniswap-v3,uniswap-v4";

  test(`to the wei of what it quotes, of two tokens and of the native coin (seed ${seed})`, async () => {
    const deviations: number[] = [];
    const tally = { alone: 0, mixed: 0 };
    for (let count = 0; count < SWAPS; count += 1) {
      const request = randomRequest(count % 2 === 0 ? "uniswap-v4" : ALL);
      const { isDone, quoted, delivered, kinds, off, gasUsed } = await swap(request);
      const context = `${JSON.stringify(request)} over ${kinds}, gas ${gasUsed}, seed ${seed}`;
      expect({ isDone, delivered }, context).toEqual({ isDone: true, delivered: quoted });
      if (new Set(kinds).size > 1 && kinds.includes("uniswap-v4")) tally.mixed += 1;
      else if (kinds.includes("uniswap-v4")) tally.alone += 1;
      deviations.push(off);
      expect(Math.abs(off), context).toBeLessThan(0.1);
    }
    if (process.env.SWAPD_QUOTED_SWAPS !== undefined) {
      console.log(`of ${SWAPS}: ${JSON.stringify(tally)}; gas off by ${JSON.stringify(summary(deviations))}`);
    }
    expect(summary(deviations).median, "how far expected gas is off").toBeLessThan(0.03);
    expect(tally.alone).toBeGreaterThanOrEqual(SWAPS / 2);
    if (SWAPS >= 100) expect(tally.mixed).toBeGreaterThan(SWAPS / 10);
  }, 3_600_000);

  test.each([
    ["of two tokens", "uniswap-v4", () => [market.usdc, market.usdt], 1_000_000_000n],
    ["of the native coin, sold wrapped", "uniswap-v4", () => [market.weth, market.dai], 10n ** 18n],
    ["of the native coin, sold as it is", "uniswap-v4", () => [NATIVE_TOKEN, market.dai], 10n ** 18n],
    ["of the native coin, bought wrapped", "uniswap-v4", () => [market.dai, market.weth], 10n ** 21n],
    ["of the native coin, bought as it is", "uniswap-v4", () => [market.dai, NATIVE_TOKEN], 10n ** 21n],
  ] as const)("for the gas that was expected: %s", async (_, liquiditySources, tokens, amount) => {
    const [fromTokenAddress, toTokenAddress] = tokens() as [Address, Address];
    const request = {
      ...{ fromTokenAddress, toTokenAddress, amount: amount.toString(), slippage: "0.005", gasless: "false" },
      ...{ fromAddress: chain.deployer, toAddress: RECIPIENT, liquiditySources },
    };
    const { isDone, quoted, delivered, off, gasUsed } = await swap(request);
    expect({ isDone, delivered }).toEqual({ isDone: true, delivered: quoted });
    expect(Math.abs(off), `${gasUsed}, off by ${off}`).toBeLessThan(0.02);
  });
});

describe("an executor of an earlier release, which lists no manager", () => {
  test("goes on working, and is offered no route over pools of Uniswap V4", async () => {
    const earlier = await deployMarket(chain);
    const { protocols, weth, usdc } = earlier;
    await chain.send({ to: weth, data: "0xd0e30db0", value: 200_000n * 10n ** 18n });
    for (const token of [weth, usdc]) await earlier.approve(token, uniswap.hand);
    // Better than what its executor trades with.
    await makePool([weth, usdc, 500, 10], -196_200, 10n ** 15n);
    const options = serviceOptions(chain, earlier, {
      database: join(directory, "earlier.db"),
      network: { protocols: [...protocols, uniswap.protocol] },
    });
    const logger = createRecordingLogger();
    const served = await startService(options, { logger, clock: systemClock });
    try {
      const asking = await createClient(served.url);
      const request = (liquiditySources: string) => ({
        ...{ fromTokenAddress: earlier.usdc, toTokenAddress: earlier.weth, amount: "3000000000", slippage: "0.005" },
        ...{ fromAddress: chain.deployer, toAddress: RECIPIENT, gasless: "false", liquiditySources },
      });
      expect((await asking.get("/aggregator/quote", request("uniswap-v4"))).body.error).toBe("NO_ROUTE");
      const { quote, transaction } = await quoteAtHead({ chain, client: asking }, request("uniswap-v2,uniswap-v4"));
      const before = await balanceOf(chain, earlier.weth, RECIPIENT);
      expect(await execute(chain, transaction)).toMatchObject({ isDone: true });
      expect((await balanceOf(chain, earlier.weth, RECIPIENT)) - before).toBe(BigInt(quote.amountOut));
      const said = logger.lines.filter(({ message }) => message.includes("of an earlier release"));
      expect(said).toMatchObject([{ level: "warn", fields: { unlisted: [uniswap.manager] } }]);
    } finally {
      await served.stop();
    }
  });

  test("is still refused where it lacks a factory of a kind that every release traded with", async () => {
    const other = toAddress("0x00000000000000000000000000000000000fac70");
    const { settlement, executor, weth: wrappedNative } = market;
    const protocols = [...market.protocols, { kind: 1, factory: other, feePips: 3_000 }];
    const network = { name: "testnet", chainId: 31_337, wrappedNative, settlement, executor, protocols };
    const lacking = "the number of the executor's protocols is 4 on testnet, the configuration says 5";
    await expect(verifySettlement(chain.rpc, network)).rejects.toThrow(lacking);
  });
});
