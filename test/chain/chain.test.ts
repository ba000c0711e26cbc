import { Transaction } from "ethers";
import { expect, test } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import { createChain } from "../../src/chain/chain.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { type Hex, NATIVE_TOKEN } from "../../src/domain/money/address.ts";
import { Secret } from "../../src/net/secret.ts";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { ANVIL_ACCOUNT, ANVIL_KEY, OTHER_ACCOUNT, startBareAnvil } from "../support/bare-anvil.ts";
import { deploy, sendAndMine } from "../support/contracts.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

function chainOver(urls: readonly string[], chainId = 31337) {
  const rpcUrls = urls.map((url) => new Secret(url));
  return createChain({ rpcUrls, chainId, timeoutMs: 2_000 }, { clock: systemClock });
}

function publicly(raw: Hex) {
  return { raw, visibility: "public" } as const;
}

async function signTransfer(nonce: number, maxFeePerGas = 3_000_000_000n): Promise<{ raw: Hex; hash: Hex }> {
  return createSigner(new Secret(ANVIL_KEY)).signTransaction({
    ...{ chainId: 31337, nonce, to: OTHER_ACCOUNT, data: "0x", value: 5n, gasLimit: 21_000n },
    ...{ maxFeePerGas, maxPriorityFeePerGas: 1_000_000_000n },
  });
}

test("blocks, receipts, counts and balances are read as the chain has them", async () => {
  const anvil = await startBareAnvil();
  const chain = chainOver([anvil.url]);
  await anvil.mine(4);
  const before = await chain.balance(NATIVE_TOKEN, OTHER_ACCOUNT);
  const { raw, hash } = await signTransfer(0);
  expect(await chain.receipt(hash)).toBeUndefined();
  expect(await chain.broadcast(publicly(raw))).toEqual({ kind: "accepted" });
  expect(await chain.broadcast(publicly(raw))).toEqual({ kind: "known" });
  await anvil.mine();
  const receipt = await chain.receipt(hash);
  expect(receipt).toMatchObject({ hash, succeeded: true, blockNumber: 5, gasUsed: 21_000n, logs: [] });
  expect(receipt?.blockHash).toBe((await chain.block(5))?.hash);
  expect(await chain.block(6)).toBeUndefined();
  expect((await chain.latest()).number).toBe(5);
  expect((await chain.finalized()).number).toBe(3);
  expect(await chain.transactionCount(ANVIL_ACCOUNT, "latest")).toBe(1);
  expect(await chain.transactionCount(ANVIL_ACCOUNT, 4)).toBe(0);
  const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  expect(await chain.transactionsOf(ANVIL_ACCOUNT, 5)).toEqual([
    {
      hash,
      nonce: 0,
      to: OTHER_ACCOUNT,
      data: "0x",
      value: 5n,
      gasLimit: 21_000n,
      fees,
      raw: expect.stringMatching(/^0x02/),
    },
  ]);
  expect(await chain.transactionsOf(OTHER_ACCOUNT, 5)).toEqual([]);
  expect(await chain.transactionsOf(ANVIL_ACCOUNT, 6)).toBeUndefined();
  expect(await chain.balance(NATIVE_TOKEN, OTHER_ACCOUNT)).toBe(before + 5n);
  expect(await chain.balance(NATIVE_TOKEN, OTHER_ACCOUNT, 4)).toBe(before);
  expect(await chain.priorityFee()).toBe(1_000_000_000n);
  const tips = { urgency: "fast", maxPriorityFee: 1_500_000_000n } as const;
  expect(
    await createChain(
      { rpcUrls: [new Secret(anvil.url)], chainId: 31_337, tips },
      { clock: systemClock },
    ).priorityFee(),
  ).toBe(1_500_000_000n);
  expect(await chain.broadcast(publicly(raw))).toEqual({ kind: "nonce-used" });
  const underpriced = await signTransfer(1, 1_000_000_001n);
  await chain.broadcast(publicly((await signTransfer(1)).raw));
  expect(await chain.broadcast(publicly(underpriced.raw))).toEqual({ kind: "replacement-underpriced" });
});

test("tokens are read, and what is no token is distinguished", async () => {
  const anvil = await startBareAnvil();
  const chain = chainOver([anvil.url]);
  const { address: token, abi } = await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]);
  await sendAndMine(anvil, { to: token, data: abi.encodeFunctionData("mint", [ANVIL_ACCOUNT, 2n ** 200n]) as Hex });
  const approval = abi.encodeFunctionData("approve", [OTHER_ACCOUNT, 77n]) as Hex;
  const { blockNumber } = await sendAndMine(anvil, { to: token, data: approval });
  expect(await chain.balance(token, ANVIL_ACCOUNT)).toBe(2n ** 200n);
  expect(await chain.allowance({ token, owner: ANVIL_ACCOUNT, spender: OTHER_ACCOUNT })).toBe(77n);
  expect(await chain.decimals(token)).toBe(6);
  expect(await chain.decimals(OTHER_ACCOUNT)).toBeUndefined();
  await expect(chain.balance(OTHER_ACCOUNT, ANVIL_ACCOUNT)).rejects.toThrow(/does not answer balanceOf/);
  expect((await chain.code(token)).length).toBeGreaterThan(200);
  expect(await chain.code(OTHER_ACCOUNT)).toBe("0x");
  const refused = abi.encodeFunctionData("transfer", [OTHER_ACCOUNT, 1n]) as Hex;
  expect(await chain.call({ to: token, data: refused, from: OTHER_ACCOUNT })).toBeUndefined();
  const [event] = await chain.logs({ address: token, topics: [null], fromBlock: 0, toBlock: Number(blockNumber) });
  expect(event).toMatchObject({ address: token, blockNumber: 2 });
});

test("a token that refuses is distinguished from a node that has no answer", async () => {
  const anvil = await startBareAnvil();
  const chain = chainOver([anvil.url]);
  const { address: token } = await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]);
  const asked = { token, owner: ANVIL_ACCOUNT, spender: OTHER_ACCOUNT };
  // Reverts whatever it is asked.
  await anvil.rpc.call("anvil_setCode", [token, "0x5f5ffd"]);
  for (const read of [() => chain.balance(token, ANVIL_ACCOUNT), () => chain.allowance(asked)])
    await expect(read()).rejects.toMatchObject({ code: "reverted", isRefusal: true });
  const agreed = await chain.agreed();
  await expect(agreed.allowance(asked)).rejects.toMatchObject({ code: "reverted" });
  await anvil.rpc.call("anvil_setCode", [token, "0x"]);
  await expect(chain.balance(token, ANVIL_ACCOUNT)).rejects.toMatchObject({ code: "malformed answer" });
});

test("a dead endpoint does not stop reads or sends, and its URL is not shown when all are dead", async () => {
  const anvil = await startBareAnvil();
  const dead = `http://127.0.0.1:${await claimPort(0)}/v2/PATHKEYPATHKEY`;
  const chain = chainOver([dead, anvil.url]);
  expect((await chain.latest()).number).toBe(0);
  expect(await chain.broadcast(publicly((await signTransfer(0)).raw))).toEqual({ kind: "accepted" });
  const error = await chainOver([dead, dead])
    .latest()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ChainReadError);
  expect((error as ChainReadError).code).toBe("unreachable");
  expect(`${error} ${(error as Error).stack}`).not.toContain("PATHKEY");
});

test("an endpoint of another chain is neither believed nor sent to", async () => {
  const [ours, other] = [await startBareAnvil(), await startBareAnvil({ chainId: 999 })];
  await other.mine(7);
  const chain = chainOver([other.url, ours.url]);
  expect((await chain.latest()).number).toBe(0);
  const { raw, hash } = await signTransfer(0);
  expect(await chain.broadcast(publicly(raw))).toEqual({ kind: "accepted" });
  expect(await other.rpc.call("eth_getTransactionByHash", [hash])).toBeNull();
  const wrong = chainOver([other.url]);
  await expect(wrong.latest()).rejects.toThrow(/serves chain 999, not 31337/);
  expect((await wrong.broadcast(publicly(raw))).kind).toBe("unknown");
});

test("a receipt that one endpoint lags behind on is found at another", async () => {
  const anvil = await startBareAnvil();
  const lagging = await startRpcProxy(anvil.url);
  lagging.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
  const { raw, hash } = await signTransfer(0);
  const chain = chainOver([lagging.url, anvil.url]);
  await chain.broadcast(publicly(raw));
  await anvil.mine();
  expect((await chain.receipt(hash))?.succeeded).toBe(true);
  expect(await chainOver([lagging.url]).receipt(hash)).toBeUndefined();
});

test("a head below a block that is known to be there is asked of the others, and told where no node has come so far", async () => {
  const anvil = await startBareAnvil();
  const ahead = await startBareAnvil();
  await anvil.mine(2);
  await ahead.mine(5);
  const chain = chainOver([anvil.url, ahead.url]);
  expect((await chain.latest()).number).toBe(2);
  expect((await chain.latest(2)).number).toBe(2);
  expect((await chain.latest(5)).number).toBe(5);
  expect((await chain.latest(6)).number, "of the first one").toBe(2);
});

test("logs of several contracts are one question, of each by itself where a node refuses that, and of none nothing", async () => {
  const anvil = await startBareAnvil();
  const tokens = [
    await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]),
    await deploy(anvil, "PermitToken", ["Dai", "DAI", 18]),
  ];
  const other = await deploy(anvil, "PermitToken", ["Other", "OTHER", 18]);
  for (const { address: to, abi } of [...tokens, other]) {
    await sendAndMine(anvil, { to, data: abi.encodeFunctionData("mint", [ANVIL_ACCOUNT, 5n]) as Hex });
  }
  const address = tokens.map((token) => token.address);
  const proxy = await startRpcProxy(anvil.url);
  const [chain, filter] = [chainOver([proxy.url]), { address, topics: [], fromBlock: 0, toBlock: 6 }];
  const queries = () => proxy.seen.filter(({ method }) => method === "eth_getLogs").length;
  const found = await chain.logs(filter);
  expect([found.map((log) => log.address).sort(), queries()]).toEqual([address.toSorted(), 1]);
  const isOfSeveral = ([query]: readonly unknown[]) => Array.isArray((query as { address?: unknown }).address);
  const refusal = { kind: "error", code: -32_602, message: "invalid argument 0: only one address" } as const;
  proxy.faultWhere({ method: "eth_getLogs", where: isOfSeveral }, refusal);
  expect((await chain.logs(filter)).map((log) => log.address).sort()).toEqual(address.toSorted());
  expect(queries()).toBe(4);
  expect([await chain.logs({ ...filter, address: [] }), queries()]).toEqual([[], 4]);
  // An endpoint that gives them in pieces agrees with one that gives them at once.
  const turned = { ...filter, address: address.toReversed() };
  expect(await (await chainOver([proxy.url, anvil.url]).agreed()).logs(turned)).toHaveLength(2);
});

test("logs of an endpoint that does not have the last block yet are no answer", async () => {
  const anvil = await startBareAnvil();
  const { address: token, abi } = await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]);
  await sendAndMine(anvil, { to: token, data: abi.encodeFunctionData("mint", [ANVIL_ACCOUNT, 5n]) as Hex });
  const lagging = await startRpcProxy(anvil.url);
  lagging.stale(1);
  lagging.fault("eth_getLogs", { kind: "answer", result: [] });
  const filter = { address: token, topics: [null], fromBlock: 0, toBlock: 2 };
  await expect(chainOver([lagging.url]).logs(filter)).rejects.toThrow("it does not have block 2");
  expect(await chainOver([lagging.url, anvil.url]).logs(filter)).toHaveLength(1);
  lagging.stale(0);
  expect(await chainOver([lagging.url]).logs(filter)).toEqual([]);
});

test("a receipt of another transaction, a forged status or a pending block is not believed", async () => {
  const anvil = await startBareAnvil();
  const { raw, hash } = await signTransfer(0);
  await chainOver([anvil.url]).broadcast(publicly(raw));
  await anvil.mine();
  const real = (await anvil.rpc.call("eth_getTransactionReceipt", [hash])) as Record<string, unknown>;
  const proxy = await startRpcProxy(anvil.url);
  const chain = chainOver([proxy.url]);
  for (const change of [{ transactionHash: `0x${"cd".repeat(32)}` }, { status: "0x2" }, { status: true }]) {
    proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: { ...real, ...change } }, 1);
    await expect(chain.receipt(hash)).rejects.toThrow(ChainReadError);
  }
  proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: { ...real, blockHash: null } }, 1);
  expect(await chain.receipt(hash)).toBeUndefined();
});

test("a receipt whose logs its own filter contradicts is taken only where no other endpoint has a better one", async () => {
  const anvil = await startBareAnvil();
  const { address: token, abi } = await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]);
  await sendAndMine(anvil, { to: token, data: abi.encodeFunctionData("mint", [ANVIL_ACCOUNT, 5n]) as Hex });
  const minted = (await anvil.rpc.call("eth_getBlockByNumber", ["latest", false])) as { transactions: Hex[] };
  const [hash] = minted.transactions;
  if (hash === undefined) throw new Error("nothing was mined");
  const real = (await anvil.rpc.call("eth_getTransactionReceipt", [hash])) as Record<string, unknown>;
  const lying = await startRpcProxy(anvil.url);
  const answer = (change: object, times: number) =>
    lying.fault("eth_getTransactionReceipt", { kind: "answer", result: { ...real, ...change } }, times);
  const none = `0x${"0".repeat(512)}`;
  for (const change of [{ logs: [] }, { status: "0x0" }]) {
    answer(change, 1);
    expect((await chainOver([lying.url, anvil.url]).receipt(hash))?.logs).toHaveLength(1);
  }
  answer({ status: "0x0" }, 1);
  expect(await chainOver([lying.url]).receipt(hash)).toMatchObject({ succeeded: false, logs: [] });
  // Where nobody has a better one it is what there is: whether it shows enough is for those who read it.
  answer({ logs: [] }, 1);
  expect((await chainOver([lying.url]).receipt(hash))?.logs).toEqual([]);
  const odd = `0x${"f".repeat(512)}`;
  answer({ logsBloom: odd }, 1);
  expect((await chainOver([lying.url]).receipt(hash))?.logs, "a chain may have filters of its own").toHaveLength(1);
  // A node that computes no filter is believed, and so are several that agree on the block: the fullest of them.
  for (const logsBloom of [none, "0x", undefined, null]) {
    answer({ logsBloom }, 1);
    expect((await chainOver([lying.url]).receipt(hash))?.logs).toHaveLength(1);
  }
  answer({ logs: [], logsBloom: none }, 2);
  expect((await chainOver([lying.url]).receipt(hash))?.logs).toEqual([]);
  const agreed = await chainOver([lying.url, anvil.url]).agreed();
  expect((await agreed.receipt(hash))?.logs).toHaveLength(1);
});

test("an answer lost after the node took the transaction is unknown, and the same bytes are known to it", async () => {
  const anvil = await startBareAnvil();
  const proxy = await startRpcProxy(anvil.url);
  const chain = chainOver([proxy.url]);
  for (const [nonce, loss] of (["reset", "502", "truncated"] as const).entries()) {
    proxy.fault("eth_sendRawTransaction", { kind: "drop-after", loss }, 1);
    const { raw } = await signTransfer(nonce);
    expect((await chain.broadcast(publicly(raw))).kind).toBe("unknown");
    expect(await chain.broadcast(publicly(raw))).toEqual({ kind: "known" });
  }
  proxy.fault("eth_sendRawTransaction", { kind: "drop-before" }, 1);
  const { raw, hash } = await signTransfer(3);
  expect((await chain.broadcast(publicly(raw))).kind).toBe("unknown");
  expect(await anvil.rpc.call("eth_getTransactionByHash", [hash])).toBeNull();
});

test("the proxy refuses a replacement below ten per cent on either fee, as Geth does and anvil does not", async () => {
  const anvil = await startBareAnvil();
  const proxy = await startRpcProxy(anvil.url);
  proxy.gethRules(true);
  const chain = chainOver([proxy.url]);
  const first = await signTransfer(0, 3_000_000_000n);
  expect(await chain.broadcast(publicly(first.raw))).toEqual({ kind: "accepted" });
  expect(Transaction.from(first.raw).maxPriorityFeePerGas).toBe(1_000_000_000n);
  const feeOnly = await signTransfer(0, 4_000_000_000n);
  expect(await chain.broadcast(publicly(feeOnly.raw))).toEqual({ kind: "replacement-underpriced" });
});

test("a header that is just being read is read once for all who want it, and anew for who comes later", async () => {
  const anvil = await startBareAnvil();
  const proxy = await startRpcProxy(anvil.url);
  const chain = chainOver([proxy.url]);
  await chain.latest();
  const before = proxy.seen.length;
  const together = await Promise.all([chain.latest(), chain.latest(), chain.finalized(), chain.latest()]);
  expect(together.map(({ number }) => number)).toEqual([0, 0, 0, 0]);
  expect(proxy.seen.slice(before).map(({ params }) => params[0])).toEqual(["latest", "finalized"]);
  await anvil.mine();
  expect((await chain.latest()).number).toBe(1);
});
