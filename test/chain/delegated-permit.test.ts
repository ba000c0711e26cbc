import { JsonRpcProvider, Wallet } from "ethers";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../src/chain/chain.ts";
import type { RpcError } from "../../src/chain/json-rpc.ts";
import { codeProblem, delegateOf } from "../../src/domain/guard/delegation.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { Secret } from "../../src/net/secret.ts";
import { ANVIL_ACCOUNT, ANVIL_KEY, OTHER_ACCOUNT, startBareAnvil } from "../support/bare-anvil.ts";
import { deploy } from "../support/contracts.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

const DELEGATE = toAddress(`0x${"d".repeat(40)}`);
/** A token that refuses owners with code: calldata word 0 after the selector, extcodesize, revert unless it is zero. */
const REFUSES_CODE = "0x6004353b600857005b5f5ffd";

async function world() {
  const anvil = await startBareAnvil();
  return { anvil, chain: createChain({ rpcUrls: [new Secret(anvil.url)], chainId: 31337 }, { clock: systemClock }) };
}

test("an account that signed a real authorisation shows to whom it delegates", async () => {
  const { anvil, chain } = await world();
  expect(await chain.code(ANVIL_ACCOUNT)).toBe("0x");
  const provider = new JsonRpcProvider(anvil.url, 31337, { staticNetwork: true });
  const wallet = new Wallet(ANVIL_KEY, provider);
  const authorisation = await wallet.authorize({ address: DELEGATE, nonce: 1, chainId: 31337 });
  const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n, gasLimit: 100_000n };
  const sent = { type: 4, chainId: 31337, nonce: 0, to: OTHER_ACCOUNT, authorizationList: [authorisation], ...fees };
  await anvil.rpc.call("eth_sendRawTransaction", [await wallet.signTransaction(sent)]);
  await anvil.mine();
  provider.destroy();
  const code = await chain.code(ANVIL_ACCOUNT);
  expect(delegateOf(code)).toBe(DELEGATE);
  expect(codeProblem(code, undefined)).toContain("the key is stolen");
  const agreed = await chain.agreed();
  expect(await agreed.code(ANVIL_ACCOUNT, agreed.latest.number)).toBe(code);
  expect(await agreed.code(ANVIL_ACCOUNT, 0)).toBe("0x");
});

describe("a permit of an account that delegates", () => {
  test("is taken by a token that looks at the signature alone, and the simulation changes nothing", async () => {
    const { anvil, chain } = await world();
    const { address: token } = await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]);
    const facts = await chain.permitFacts(token, ANVIL_ACCOUNT);
    if (facts === undefined) throw new Error("the token has a permit");
    const request = { token, delegate: DELEGATE, spender: OTHER_ACCOUNT, domain: facts.domain };
    expect(await chain.takesDelegatedPermit(request)).toBe(true);
    const forged = { ...facts.domain, name: "another" };
    expect(await chain.takesDelegatedPermit({ ...request, domain: forged })).toBe(false);
    expect(await chain.allowance({ token, owner: ANVIL_ACCOUNT, spender: OTHER_ACCOUNT })).toBe(0n);
  });

  test("is not taken by a token that looks at the owner's code first", async () => {
    const { anvil, chain } = await world();
    const token = toAddress(`0x${"7".repeat(40)}`);
    await anvil.rpc.call("anvil_setCode", [token, REFUSES_CODE]);
    const domain = { name: "Token", version: "1", chainId: 31337n, verifyingContract: token };
    const request = { token, delegate: DELEGATE, spender: OTHER_ACCOUNT, domain };
    expect(await chain.takesDelegatedPermit(request)).toBe(false);
  });

  test("is tried at endpoints alone that lend accounts the code", async () => {
    const { anvil } = await world();
    const weak = await startHttpServer(async (request, response) => {
      const call = JSON.parse(await readBody(request));
      if (call.method === "eth_call") call.params.length = 2;
      const answer = await anvil.rpc.call(call.method, call.params).then(
        (result) => ({ result }),
        (error: RpcError) => ({ error: { code: error.code, message: error.nodeMessage } }),
      );
      response.end(JSON.stringify({ jsonrpc: "2.0", id: call.id, ...answer }));
    });
    const token = toAddress(`0x${"7".repeat(40)}`);
    await anvil.rpc.call("anvil_setCode", [token, REFUSES_CODE]);
    const domain = { name: "Token", version: "1", chainId: 31337n, verifyingContract: token };
    const request = { token, delegate: DELEGATE, spender: OTHER_ACCOUNT, domain };
    const over = (...urls: string[]) =>
      createChain({ rpcUrls: urls.map((url) => new Secret(url)), chainId: 31337 }, { clock: systemClock });
    expect(await over(weak.url, anvil.url).takesDelegatedPermit(request)).toBe(false);
    await expect(over(weak.url).takesDelegatedPermit(request)).rejects.toMatchObject({ code: "not available" });
  });
});
