import { AbiCoder, id, TypedDataEncoder } from "ethers";
import { expect, test } from "vitest";
import { type JsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { detectPermit } from "../../../src/service/settlement/permit.ts";

const TOKEN = toAddress(`0x${"a".repeat(40)}`);
const CHAIN_ID = 137;
const SALT = `0x${CHAIN_ID.toString(16).padStart(64, "0")}`;
const NETWORK = { chainId: CHAIN_ID, spender: TOKEN };

/** A token with these views alone; every other call reverts. */
function tokenWith(views: Record<string, [types: readonly string[], values: readonly unknown[]]>): JsonRpc {
  const call = async (_method: string, params: readonly unknown[]) => {
    const [{ data }] = params as [{ data: string }];
    const view = Object.entries(views).find(([signature]) => id(signature).slice(0, 10) === data.slice(0, 10))?.[1];
    if (view !== undefined) return AbiCoder.defaultAbiCoder().encode([...view[0]], [...view[1]]);
    throw new RpcError({ kind: "rpc", host: "node", code: 3, message: "execution reverted" });
  };
  return { host: "node", call } as unknown as JsonRpc;
}

test("a token whose domain has the chain as its salt is distinguished from one without permits", async () => {
  const domain = { name: "USD Coin (PoS)", version: "1", verifyingContract: TOKEN, salt: SALT };
  const rpc = tokenWith({
    "name()": [["string"], [domain.name]],
    "DOMAIN_SEPARATOR()": [["bytes32"], [TypedDataEncoder.hashDomain(domain)]],
  });
  expect(await detectPermit(rpc, TOKEN, NETWORK)).toEqual({ kind: "other-domain" });
});

test("a token that states its domain and has no separator to check it against is distinguished, too", async () => {
  const types = ["bytes1", "string", "string", "uint256", "address", "bytes32", "uint256[]"];
  const rpc = tokenWith({
    "eip712Domain()": [types, ["0x0f", "Token", "1", CHAIN_ID, TOKEN, `0x${"0".repeat(64)}`, []]],
  });
  expect(await detectPermit(rpc, TOKEN, NETWORK)).toEqual({ kind: "other-domain" });
});

test.each([
  ["another chain", { chainId: 1, verifyingContract: TOKEN }],
  ["another contract", { chainId: CHAIN_ID, verifyingContract: toAddress(`0x${"b".repeat(40)}`) }],
])("a token whose permits would work on %s is distinguished, whatever it states and proves", async (_, place) => {
  const domain = { name: "Token", version: "1", ...place };
  const types = ["bytes1", "string", "string", "uint256", "address", "bytes32", "uint256[]"];
  const stated = [
    "0x0f",
    domain.name,
    domain.version,
    domain.chainId,
    domain.verifyingContract,
    `0x${"0".repeat(64)}`,
    [],
  ];
  const rpc = tokenWith({
    "eip712Domain()": [types, stated],
    "DOMAIN_SEPARATOR()": [["bytes32"], [TypedDataEncoder.hashDomain(domain)]],
  });
  expect(await detectPermit(rpc, TOKEN, NETWORK)).toEqual({ kind: "other-domain" });
});

test("a token without any of it has no permits", async () => {
  expect(await detectPermit(tokenWith({ "name()": [["string"], ["Plain"]] }), TOKEN, NETWORK)).toEqual({
    kind: "none",
  });
});
