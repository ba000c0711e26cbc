import { Wallet } from "ethers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import {
  detectPermit,
  parseSignature,
  permitTypedData,
  recoverSigner,
} from "../../../src/service/settlement/permit.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { deployMarket, type Market } from "../support/market.ts";

let chain: TestChain;
let market: Market;

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
});

afterAll(() => chain?.stop());

describe("the permit of a token is found by trying", () => {
  test("EIP-2612 with a domain that hashes to the token's own separator", async () => {
    const network = { chainId: 31_337, spender: market.settlement };
    const found = await detectPermit(chain.rpc, market.usdc, network);
    expect(found).toMatchObject({
      kind: "eip-2612",
      domain: { version: "1", chainId: "31337", verifyingContract: market.usdc },
    });
  });

  test("Dai's own permit is not taken for EIP-2612 although nonces and separator are there", async () => {
    const network = { chainId: 31_337, spender: market.settlement };
    expect(await detectPermit(chain.rpc, market.dai, network)).toEqual({ kind: "dai-style" });
  });

  test("neither a token without permit has one, nor one whose fallback accepts every call", async () => {
    const network = { chainId: 31_337, spender: market.settlement };
    expect(await detectPermit(chain.rpc, market.usdt, network)).toEqual({ kind: "none" });
    expect(await detectPermit(chain.rpc, market.weth, network)).toEqual({ kind: "none" });
  });

  test("a domain of another chain is not accepted", async () => {
    const network = { chainId: 1, spender: market.settlement };
    const found = await detectPermit(chain.rpc, market.usdc, network);
    expect(found.kind === "eip-2612" ? found.domain.chainId : "31337").toBe("31337");
  });
});

describe("signatures", () => {
  const owner = new Wallet(`0x${"11".repeat(32)}`);
  const terms = {
    owner: owner.address.toLowerCase() as Address,
    spender: "0x00000000000000000000000000000000000000aa" as Address,
    value: 1n,
    nonce: 0n,
    deadline: 2n,
  };
  const typedData = permitTypedData({ name: "T", version: "1", chainId: "1", verifyingContract: terms.spender }, terms);

  async function sign(): Promise<Hex> {
    const types = { Permit: [...typedData.types.Permit!] };
    return (await owner.signTypedData(typedData.domain, types, typedData.message)) as Hex;
  }

  test("recover to their signer, and to somebody else when one value differs", async () => {
    const signature = await sign();
    expect(recoverSigner(typedData, signature)).toBe(terms.owner);
    const other = permitTypedData(typedData.domain, { ...terms, value: 2n });
    expect(recoverSigner(other, signature)).not.toBe(terms.owner);
  });

  test("that are malleable, too long or have another v are none", async () => {
    const signature = await sign();
    const parsed = parseSignature(signature)!;
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const highS = (order - BigInt(parsed.s)).toString(16).padStart(64, "0");
    const flipped = parsed.v === 27 ? "1c" : "1b";
    expect(parseSignature(`0x${signature.slice(2, 66)}${highS}${flipped}`)).toBeUndefined();
    expect(parseSignature(`${signature}00`)).toBeUndefined();
    expect(parseSignature(`${signature.slice(0, -2)}00` as Hex)).toBeUndefined();
    expect(recoverSigner(typedData, `0x${"00".repeat(65)}`)).toBeUndefined();
  });
});
