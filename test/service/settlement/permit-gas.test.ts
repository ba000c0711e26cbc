import { AbiCoder, id, pbkdf2, TypedDataEncoder } from "ethers";
import { expect, test } from "vitest";
import type { JsonRpc } from "../../../src/chain/json-rpc.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { detectPermit } from "../../../src/service/settlement/permit.ts";

const token = toAddress(`0x${"0a".repeat(20)}`);
const CHAIN_ID = 1;

/** A token that has every view, and takes every permit: all that may be asked of one is asked. */
function openToken() {
  const gas: (string | undefined)[] = [];
  const domain = { name: "Token", version: "1", chainId: CHAIN_ID, verifyingContract: token };
  const text = (value: string) => AbiCoder.defaultAbiCoder().encode(["string"], [value]);
  const views = new Map([
    ["name()", text("Token")],
    ["version()", text("1")],
    ["DOMAIN_SEPARATOR()", TypedDataEncoder.hashDomain(domain)],
    ["PERMIT_TYPEHASH()", id("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)")],
  ]);
  const answers = new Map([...views].map(([view, answer]) => [id(view).slice(0, 10), answer]));
  const rpc = {
    host: "node",
    call: async (_method: string, [call]: [{ data: string; gas?: string }]) => {
      gas.push(call.gas);
      return answers.get(call.data.slice(0, 10)) ?? "0x";
    },
  } as unknown as JsonRpc;
  return { rpc, gas };
}

test("anyone who asks for a stranger's token makes the node run no more than a little of it", async () => {
  const { rpc, gas } = openToken();
  expect(await detectPermit(rpc, token, { chainId: CHAIN_ID, spender: token })).toEqual({ kind: "none" });
  expect(gas.length).toBeGreaterThanOrEqual(6);
  expect(gas.filter((one) => one === undefined || BigInt(one) > 500_000n)).toEqual([]);
});

test("it does not make us stretch a key: that takes as long as three quotes, and nobody else is answered meanwhile", async () => {
  const { rpc } = openToken();
  let stretched = 0;
  pbkdf2.register((...args) => {
    stretched += 1;
    return pbkdf2._(...args);
  });
  await detectPermit(rpc, token, { chainId: CHAIN_ID, spender: token });
  expect(stretched).toBe(0);
});
