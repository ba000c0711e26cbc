import { AbiCoder, id, TypedDataEncoder } from "ethers";
import { expect, test } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../src/chain/chain.ts";
import { readPermitFacts } from "../../src/chain/permit-facts.ts";
import { type Hex, toAddress } from "../../src/domain/money/address.ts";
import { Secret } from "../../src/net/secret.ts";
import { ANVIL_ACCOUNT, startBareAnvil } from "../support/bare-anvil.ts";
import { deploy } from "../support/contracts.ts";

const token = toAddress(`0x${"7".repeat(40)}`);
const request = { token, owner: ANVIL_ACCOUNT, chainId: 31337 };
const bound = { name: "USD Coin", version: "2", chainId: 31337n, verifyingContract: token };

/** A token that answers some views, keyed by their signatures. */
function tokenWith(views: Readonly<Record<string, readonly [readonly string[], readonly unknown[]]>>) {
  return async (data: Hex): Promise<Hex | undefined> => {
    const view = Object.entries(views).find(([signature]) => id(signature).slice(0, 10) === data.slice(0, 10));
    return view === undefined ? undefined : (AbiCoder.defaultAbiCoder().encode(view[1][0], view[1][1]) as Hex);
  };
}

const views = (domain: typeof bound | Record<string, unknown>) => ({
  "DOMAIN_SEPARATOR()": [["bytes32"], [TypedDataEncoder.hashDomain(domain)]] as const,
  "nonces(address)": [["uint256"], [3n]] as const,
  "name()": [["string"], ["USD Coin"]] as const,
});

test("a real token's domain and nonce are found and proved", async () => {
  const anvil = await startBareAnvil();
  const chain = createChain({ rpcUrls: [new Secret(anvil.url)], chainId: 31337 }, { clock: systemClock });
  const usdc = await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]);
  expect(await chain.permitFacts(usdc.address, ANVIL_ACCOUNT)).toEqual({
    domain: { name: "USD Coin", version: "1", chainId: 31337n, verifyingContract: usdc.address },
    nonce: 0n,
  });
});

test("the older permit of DAI and a token without permits have none", async () => {
  const anvil = await startBareAnvil();
  const chain = createChain({ rpcUrls: [new Secret(anvil.url)], chainId: 31337 }, { clock: systemClock });
  const dai = await deploy(anvil, "DaiPermitToken", ["Wrapped BTC", "WBTC", 8]);
  const usdt = await deploy(anvil, "UsdtLikeToken", ["Tether USD", "USDT", 6]);
  expect(await chain.permitFacts(dai.address, ANVIL_ACCOUNT)).toBeUndefined();
  expect(await chain.permitFacts(usdt.address, ANVIL_ACCOUNT)).toBeUndefined();
});

test("a version that the token does not report is found by its separator", async () => {
  expect(await readPermitFacts(request, tokenWith(views(bound)))).toEqual({ domain: bound, nonce: 3n });
  const odd = { ...bound, version: "3" };
  expect(await readPermitFacts(request, tokenWith(views(odd)))).toBeUndefined();
  const reported = { ...views(odd), "version()": [["string"], ["3"]] as const };
  expect((await readPermitFacts(request, tokenWith(reported)))?.domain).toEqual(odd);
});

test("a domain that would work on another chain or for another contract is refused", async () => {
  const { chainId: _, ...withoutChain } = bound;
  const elsewhere = [withoutChain, { ...bound, chainId: 1n }, { ...bound, verifyingContract: ANVIL_ACCOUNT }];
  for (const domain of elsewhere) {
    const described = [
      "0x0f",
      "USD Coin",
      "2",
      "chainId" in domain ? domain.chainId : 0n,
      domain.verifyingContract,
      `0x${"0".repeat(64)}`,
      [],
    ];
    const types = ["bytes1", "string", "string", "uint256", "address", "bytes32", "uint256[]"];
    const answers = { ...views(domain), "eip712Domain()": [types, described] as const };
    expect(await readPermitFacts(request, tokenWith(answers))).toBeUndefined();
  }
});

test("a domain with a salt is refused, also where it is bound to the chain and the token", async () => {
  const salt = `0x${"5".repeat(64)}`;
  const domain = { ...bound, salt };
  const types = ["bytes1", "string", "string", "uint256", "address", "bytes32", "uint256[]"];
  const described = ["0x1f", "USD Coin", "2", 31337n, token, salt, []];
  const answers = { ...views(domain), "eip712Domain()": [types, described] as const };
  expect(await readPermitFacts(request, tokenWith(answers))).toBeUndefined();
});

test("a token that states another permit type is refused, whatever its domain", async () => {
  const other = { ...views(bound), "PERMIT_TYPEHASH()": [["bytes32"], [id("Permit(address holder)")]] as const };
  expect(await readPermitFacts(request, tokenWith(other))).toBeUndefined();
});
