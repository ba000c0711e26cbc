import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Hex } from "../../../src/domain/money/address.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { verifySettlement } from "../../../src/service/settlement/verify.ts";
import { WrongContractsError } from "../../../src/service/settlement/views.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { deployExchange, type Exchange, forgetHashes } from "../support/exchange.ts";

let chain: TestChain;
let exchange: Exchange;

beforeAll(async () => {
  chain = await startTestChain();
  exchange = await deployExchange(chain);
});

afterAll(async () => await chain?.stop());

function verified(protocols: readonly Protocol[]) {
  const { settlement, executor, wrappedNative } = exchange;
  return verifySettlement(chain.rpc, {
    ...{ name: "testnet", chainId: 31_337, wrappedNative, settlement, executor, protocols },
  });
}

describe("the codes by which an executor computes pools", () => {
  test("are those of the network's facts", async () => {
    expect(await verified(exchange.protocols)).toEqual({ executor: exchange.executor, computes: true, listed: 3 });
  });

  test("that are others are refused by name, with both values", async () => {
    const other: Hex = `0x${"5e".repeat(32)}`;
    const [first, ...rest] = exchange.protocols;
    const refused = verified([{ ...(first as Protocol), initCodeHash: other }, ...rest]);
    await expect(refused).rejects.toThrow(WrongContractsError);
    await expect(refused).rejects.toThrow(`by the code ${first?.initCodeHash}, the configuration says ${other}`);
  });

  test("are not compared where the facts have none: the factory has the word there", async () => {
    const without = exchange.protocols.map(({ initCodeHash: _, ...protocol }) => protocol);
    expect(await verified(without)).toEqual({ executor: exchange.executor, computes: true, listed: 3 });
  });

  test("are none of an executor of an earlier release, which goes on working", async () => {
    await forgetHashes(chain, exchange.executor);
    expect(await verified(exchange.protocols)).toEqual({ executor: exchange.executor, computes: false, listed: 3 });
  });
});
