import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { formatAuditReport } from "../../src/audit/format.ts";
import { type Hex, toAddress } from "../../src/domain/money/address.ts";
import { DEPLOYER } from "./support/chain.ts";
import { encodeCalls, ROUTER_CODE, swapRouted } from "./support/router.ts";
import { buildWorld, type Copy, codesOf, STRANGER, type World } from "./support/world.ts";

// Each test audits a whole chain, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 30_000 });

let world: World;
beforeAll(async () => {
  world = await buildWorld();
});
afterAll(() => world.stop());

const nothing = () => undefined;

test("finds nothing where every wei has an explanation", async () => {
  const report = await world.auditAfter(nothing);
  expect(report.differences).toEqual([]);
  expect(report.clean).toBe(true);
  expect(report.notes).toEqual([]);
  expect(report.checked).toMatchObject({ wallets: 1, runs: 7, swaps: 7, fills: 5, transactions: 7, signatures: 6 });
  expect(report.checked.transfers).toBeGreaterThan(8);
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
});

test("reports what a person accepted that the rows do not know, as no difference", async () => {
  const report = await world.auditAfter(({ journal, chain }) =>
    journal.insert("differences", {
      ...{ key: "new", wallet: chain.wallet.address.toLowerCase(), kind: "new", scope: "wallet", facts: "{}" },
      ...{ text: "it may have traded before", found_at_ms: 1, settled_by: "ops", settled_at_ms: 2 },
    }),
  );
  expect(report.differences).toEqual([]);
  expect(report.notes).toEqual(["Accepted by ops: it may have traded before."]);
});

test("asks of what a person sent in place of ours, doing the same, that it does the same, and not what it pays", async () => {
  const report = await world.auditAfter(({ journal }) => {
    journal.run("UPDATE lane_attempts SET first_broadcast_block = NULL WHERE intent_id = 'own.swap'");
    journal.run("UPDATE lane_intents SET max_fee_per_gas_cap = '1' WHERE id = 'own.swap'");
  });
  expect(report.differences).toEqual([]);
});

test("explains what the route left over, and came back to the wallet, by the event and by the transfers", async () => {
  const report = await world.auditAfter(async ({ trader, chain: { tokens } }) => {
    const { ETH, USDC, DAI } = tokens;
    await trader.swapSelfExecuted({ id: "part", sell: USDC, buy: DAI, amount: 50_000n, uses: 70n });
    await trader.swapSelfExecuted({ id: "part-native", sell: ETH, buy: USDC, amount: 10n ** 12n, uses: 25n });
    await trader.swapGasless({ id: "part-gasless", sell: USDC, buy: DAI, amount: 90_000n, uses: 40n });
  });
  expect(report.differences).toEqual([]);
  expect(report.checked).toMatchObject({ fills: 8 });
});

test("explains coins that were sold in a pool of the coin itself, which is paid with unwrapped ones", async () => {
  const sale = { sell: "ETH", amount: 10n ** 18n } as const;
  const report = await world.auditAfter((copy) => swapRouted(copy, sale));
  expect(report.differences).toEqual([]);
  const lying = await world.auditAfter((copy) => swapRouted(copy, { ...sale, recorded: 0n }));
  expect(codesOf(lying), "nor do they count as come back where the balance says that they did not").toEqual([
    "BALANCE_DIFFERS",
  ]);
});

test("lists a deposit, with its transaction, as no difference", async () => {
  const { deposits } = await world.auditAfter(nothing);
  expect(deposits).toEqual([
    expect.objectContaining({ symbol: "USDC", amount: "123456", hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) }),
  ]);
});

test("lists native coins that came without an event as a deposit", async () => {
  const report = await world.auditAfter(({ chain }) =>
    chain.send(DEPLOYER, chain.wallet.address.toLowerCase() as typeof DEPLOYER, "0x", 12_345n),
  );
  expect(report.clean).toBe(true);
  expect(report.deposits).toContainEqual(expect.objectContaining({ symbol: "ETH", amount: "12345", hash: null }));
});

test("lists a signed swap that has not landed as open, never as a difference", async () => {
  const { openSwaps } = await world.auditAfter(nothing);
  expect(openSwaps).toEqual([
    expect.objectContaining({ id: "open", state: "submitted", mode: "gasless", gross: "9000", landed: null }),
  ]);
});

test("explains a fill that landed before the daemon saw it by the open swap, by its nonce", async () => {
  let hash: Hex | undefined;
  const report = await world.auditAfter(async ({ trader, chain }) => {
    const { USDC, WETH } = chain.tokens;
    hash = await trader.swapGasless({ id: "landed", sell: USDC, buy: WETH, amount: 50_000n }, "submitted");
  });
  expect(report.differences).toEqual([]);
  expect(report.openSwaps).toContainEqual(expect.objectContaining({ id: "landed", landed: hash }));
});

test("explains it by wallet, token and exact amount where signatures have no nonce", async () => {
  let hash: Hex | undefined;
  const report = await world.auditAfter(
    async ({ trader, chain, journal }) => {
      const { USDC, WETH } = chain.tokens;
      hash = await trader.swapGasless({ id: "landed", sell: USDC, buy: WETH, amount: 50_000n }, "submitted");
      journal.run("UPDATE swaps SET nonce = NULL WHERE id = 'landed'");
    },
    { settlement: undefined },
  );
  expect(report.differences).toEqual([]);
  expect(report.openSwaps).toContainEqual(expect.objectContaining({ id: "landed", landed: hash }));
});

test("does not explain an outflow by an open swap of another amount", async () => {
  const report = await world.auditAfter(
    async ({ trader, chain, journal }) => {
      const { USDC, WETH } = chain.tokens;
      await trader.swapGasless({ id: "landed", sell: USDC, buy: WETH, amount: 50_000n }, "submitted");
      journal.run("UPDATE swaps SET nonce = NULL, amount_in = '49999' WHERE id = 'landed'");
      journal.run("UPDATE ledger SET amount = '49999' WHERE swap_id = 'landed'");
    },
    { settlement: undefined },
  );
  expect(report.differences.map(({ code }) => code)).toContain("UNEXPLAINED_OUTFLOW");
});

test("is not fooled by a stranger who moves nothing out of the wallet", async () => {
  const report = await world.auditAfter(({ chain }) => {
    const { usdc } = chain.contracts;
    const data = usdc.abi.encodeFunctionData("transferFrom", [chain.wallet.address, STRANGER, 0n]) as Hex;
    return chain.send(DEPLOYER, usdc.address, data);
  });
  expect(report.differences).toEqual([]);
});

test("lists an allowance as in use while a swap of that wallet and token is open", async () => {
  const report = await world.auditAfter(({ trader, chain }) => {
    const { dai, settlement } = chain.contracts;
    const data = dai.abi.encodeFunctionData("approve", [settlement.address, 9_000n]) as Hex;
    return trader.perform({ id: "open.approve1", purpose: "approve", to: dai.address, data });
  });
  expect(report.differences).toEqual([]);
  expect(report.openAllowances).toEqual([expect.objectContaining({ symbol: "DAI", amount: "9000" })]);
});

test("says nothing about an allowance that was granted and revoked", async () => {
  const report = await world.auditAfter(async ({ trader, chain }) => {
    const { usdc } = chain.contracts;
    for (const [index, amount] of [5n, 0n].entries()) {
      const data = usdc.abi.encodeFunctionData("approve", [STRANGER, amount]) as Hex;
      await trader.perform({ id: `grant${index}`, purpose: "approve", to: usdc.address, data });
    }
  });
  expect(report.differences).toEqual([]);
});

test("takes what owners of a Safe do besides for theirs: allowances that they gave, and contracts that it made", async () => {
  const safe = toAddress(`0x${"5a".repeat(20)}`);
  const owners = async ({ chain, journal }: Copy) => {
    const { usdc } = chain.contracts;
    const block = Number(await chain.rpc.call("eth_blockNumber", []));
    const { address: token, symbol, decimals } = chain.tokens.USDC;
    journal.insert("baselines", { wallet: safe, token, symbol, decimals, block_number: block, balance: "0" });
    const data = usdc.abi.encodeFunctionData("approve", [STRANGER, 5n]);
    await chain.rpc.call("anvil_setCode", [safe, ROUTER_CODE]);
    await chain.send(DEPLOYER, safe, encodeCalls([[usdc.address, 0n, data]]));
    // A contract counts with its nonce those that it makes.
    await chain.rpc.call("anvil_setCode", [safe, "0x600060006000f000"]);
    await chain.send(DEPLOYER, safe, "0x");
  };
  expect(await world.auditAfter(owners, { safes: [safe] })).toMatchObject({ differences: [], openAllowances: [] });
  const ofAKey = await world.auditAfter(owners);
  expect(codesOf(ofAKey), "of a key's wallet both are told").toEqual(["ALLOWANCE_UNEXPLAINED", "FOREIGN_NONCE"]);
});

test("takes what was about to be signed for an older quote, and never was, for no contradiction", async () => {
  const report = await world.auditAfter(({ journal }) => {
    journal.run("UPDATE signatures SET signature = NULL WHERE swap_id = 'open'");
    journal.run("UPDATE swaps SET amount_out_min = '5', nonce = '3' WHERE id = 'open'");
  });
  expect(report.differences).toEqual([]);
});

test("writes the answer, the differences with their values and the harmless things for people", async () => {
  const clean = formatAuditReport(await world.auditAfter(nothing));
  expect(clean).toMatch(/^No difference: database and chain agree[.]/);
  expect(clean).toContain("0.123456 USDC to 0x");
  expect(clean).toContain("open submitted: 0.000000000000009 DAI for USDC (gasless)");
  const spoilt = await world.auditAfter(({ journal }) => journal.run("UPDATE swaps SET sold = '1' WHERE id = 'own'"));
  const text = formatAuditReport(spoilt);
  expect(text).toMatch(/^2 differences between database and chain[.]/);
  expect(text).toContain(
    "SOLD_DIFFERS  Swap own records 0.000001 USDC as sold; 5 USDC left the wallet.\n    recorded: 1\n",
  );
});
