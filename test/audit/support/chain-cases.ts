import { TypedDataEncoder } from "ethers";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { writeStory } from "./journal.ts";
import { signTransaction, writeAttempt } from "./lane-rows.ts";
import { ROUTED_OUT, swapRouted } from "./router.ts";
import { type Case, type Copy, STRANGER } from "./world.ts";

/** A transaction of the wallet's key that the database never hears of. */
async function foreign(
  { chain, journal }: Copy,
  transaction: { to: string; data?: Hex; value?: bigint },
): Promise<void> {
  const nonce = Number(journal.get("SELECT max(nonce) + 1 FROM lane_intents"));
  const { raw } = await signTransaction(chain.wallet, { chainId: chain.chainId, nonce, ...transaction });
  const { succeeded } = await chain.sendRaw(raw);
  if (!succeeded) throw new Error("the foreign transaction reverted");
}

function approval({ chain }: Copy, spender: string, amount: bigint): Hex {
  return chain.contracts.usdc.abi.encodeFunctionData("approve", [spender, amount]) as Hex;
}

function recordedFill(copy: Copy): Hex {
  return String(copy.journal.get("SELECT hash FROM swaps WHERE id = 'own'")) as Hex;
}

/** Fills that are not what their rows say. */
export const FILL_CASES: readonly Case[] = [
  {
    hazard: "a fill whose transaction does not exist",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET hash = ? WHERE id = 'gasless'", `0x${"99".repeat(32)}`),
    reports: ["FILL_MISSING"],
  },
  {
    hazard: "a fill whose transaction reverted",
    spoil: async ({ journal, chain, trader }) => {
      const data = chain.contracts.usdc.abi.encodeFunctionData("transfer", [STRANGER, 10n ** 30n]) as Hex;
      const { hash } = await trader.perform({ id: "bad", purpose: "approve", to: chain.tokens.USDC.address, data });
      journal.run("UPDATE swaps SET hash = ? WHERE id = 'gasless'", hash);
    },
    reports: ["FILL_REVERTED", "MODE_DIFFERS"],
  },
  {
    hazard: "a fill in another block than recorded",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET block_number = block_number + 1 WHERE id = 'own'"),
    reports: ["FILL_BLOCK_DIFFERS"],
  },
  {
    hazard: "a fill in a block of another time than recorded",
    spoil: async ({ journal, chain }) => {
      await chain.rpc.call("evm_increaseTime", [60]);
      await chain.rpc.call("evm_mine", []);
      const tip = Number(await chain.rpc.call("eth_blockNumber", []));
      journal.run("UPDATE swaps SET block_number = ? WHERE id = 'own'", tip);
    },
    reports: ["FILL_BLOCK_DIFFERS"],
  },
  {
    hazard: "one wei less sold than left the wallet",
    spoil: ({ journal }) => {
      journal.run("UPDATE swaps SET sold = '4999999' WHERE id = 'own'");
      journal.run("UPDATE ledger SET amount = '4999999' WHERE swap_id = 'own'");
    },
    reports: ["SOLD_DIFFERS"],
  },
  {
    hazard: "half as much again taken as the swap was to sell",
    spoil: (copy) => swapRouted(copy, { sell: "USDC", amount: 100n, takes: 150n }),
    reports: ["FILL_BEYOND_ORDER"],
  },
  {
    hazard: "less brought than the swap asked for at least",
    spoil: (copy) => swapRouted(copy, { sell: "USDC", amount: 100n, least: ROUTED_OUT + 1n }),
    reports: ["FILL_BEYOND_ORDER"],
  },
  {
    hazard: "half as much again taken by a swap that the daemon has not seen filled yet",
    spoil: (copy) => swapRouted(copy, { sell: "USDC", amount: 100n, takes: 150n, isOpen: true }),
    reports: ["FILL_BEYOND_ORDER"],
  },
  {
    hazard: "more coins sent along than the open swap was to sell",
    spoil: (copy) => swapRouted(copy, { sell: "ETH", amount: 100n, takes: 150n, isOpen: true }),
    reports: ["FILL_BEYOND_ORDER"],
  },
  {
    hazard: "less brought than the open swap asked for at least",
    spoil: (copy) => swapRouted(copy, { sell: "USDC", amount: 100n, least: ROUTED_OUT + 1n, isOpen: true }),
    reports: ["FILL_BEYOND_ORDER"],
  },
  {
    hazard: "a theft of exactly what an open order without a nonce may take, that brought nothing",
    spoil: async ({ trader, journal, chain: { contracts, tokens } }) => {
      await trader.swapGasless({ id: "waits", sell: tokens.USDC, buy: tokens.WETH, amount: 50_000n }, "not executed");
      journal.run("UPDATE swaps SET nonce = NULL WHERE id = 'waits'");
      const data = contracts.usdc.abi.encodeFunctionData("transfer", [STRANGER, 50_000n]) as Hex;
      await trader.perform({ id: "sly", purpose: "approve", to: tokens.USDC.address, data });
    },
    reports: ["RECIPIENT_DIFFERS"],
  },
  {
    hazard: "native coins sold that were not sent along",
    spoil: ({ journal }) => {
      journal.run("UPDATE swaps SET sold = '1' WHERE id = 'from-native'");
      journal.run("UPDATE ledger SET amount = '1' WHERE swap_id = 'from-native'");
    },
    reports: ["SOLD_DIFFERS"],
  },
  {
    hazard: "one wei more bought than reached the recipient",
    spoil: ({ journal }) =>
      journal.run("UPDATE swaps SET bought = CAST(CAST(bought AS INTEGER) + 1 AS TEXT) WHERE id = 'for-stranger'"),
    reports: ["BOUGHT_DIFFERS", "EVENT_DIFFERS"],
  },
  {
    hazard: "native coins bought that nobody unwrapped",
    spoil: ({ journal }) =>
      journal.run("UPDATE swaps SET bought = CAST(CAST(bought AS INTEGER) + 1 AS TEXT) WHERE id = 'to-native'"),
    reports: ["BOUGHT_DIFFERS", "EVENT_DIFFERS"],
  },
  {
    hazard: "tokens that went to somebody else than the recipient",
    spoil: ({ journal, chain }) =>
      journal.run("UPDATE swaps SET recipient = ? WHERE id = 'for-stranger'", chain.wallet.address.toLowerCase()),
    reports: ["BOUGHT_DIFFERS", "RECIPIENT_DIFFERS"],
  },
  {
    hazard: "an event that names another nonce than the row",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET nonce = '7' WHERE id = 'gasless'"),
    reports: ["EVENT_DIFFERS", "SIGNED_SWAP_DIFFERS"],
  },
  {
    hazard: "a fee of the service that the event does not show",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET swap_fee = '7' WHERE id = 'gasless'"),
    reports: ["EVENT_DIFFERS"],
  },
  {
    hazard: "a fee of an affiliate that nobody took",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET affiliate_fee = '1' WHERE id = 'own'"),
    reports: ["EVENT_DIFFERS"],
  },
  {
    hazard: "one swap with two fills, one of which is another swap's",
    spoil: (copy) => copy.journal.run("UPDATE swaps SET hash = ? WHERE id = 'gasless'", recordedFill(copy)),
    reports: [
      "BOUGHT_DIFFERS",
      "EVENT_DIFFERS",
      "FILL_BLOCK_DIFFERS",
      "FILL_CLAIMED_TWICE",
      "MODE_DIFFERS",
      "RECIPIENT_DIFFERS",
      "SECOND_FILL",
    ],
  },
  {
    hazard: "a swap that is recorded as expired and was filled",
    spoil: ({ journal }) => {
      journal.run("UPDATE swaps SET state = 'expired', hash = NULL, sold = NULL, bought = NULL WHERE id = 'gasless'");
      journal.run("DELETE FROM transitions WHERE subject_id = 'gasless' AND to_state IN ('confirmed', 'final')");
      const move = { subject: "swap", subject_id: "gasless", from_state: "mined", to_state: "expired", at_ms: 9 };
      journal.insert("transitions", move);
      journal.run("UPDATE ledger SET state = 'released' WHERE swap_id = 'gasless'");
      journal.run("UPDATE runs SET state = 'failed' WHERE id = 'run-gasless'");
      journal.run(
        "UPDATE transitions SET to_state = 'failed' WHERE to_state = 'filled' AND subject_id = 'run-gasless'",
      );
    },
    reports: ["FILL_OF_ENDED_SWAP"],
  },
];

/** Money that went without a swap. */
export const OUTFLOW_CASES: readonly Case[] = [
  {
    hazard: "a fill that has no row",
    spoil: async ({ trader, chain, journal }) => {
      await trader.swapGasless({ id: "lost", sell: chain.tokens.USDC, buy: chain.tokens.WETH, amount: 1_000_000n });
      for (const table of ["signatures", "ledger", "capabilities"])
        journal.run(`DELETE FROM ${table} WHERE swap_id = 'lost'`);
      for (const id of ["lost", "run-lost"]) journal.run("DELETE FROM transitions WHERE subject_id = ?", id);
      journal.run("DELETE FROM swaps WHERE id = 'lost'");
      journal.run("DELETE FROM runs WHERE id = 'run-lost'");
    },
    reports: ["UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "what left as the fill of another service's open order would",
    spoil: ({ foreignTrader, chain: { tokens } }) =>
      foreignTrader.swapGasless({ id: "landed", sell: tokens.USDC, buy: tokens.WETH, amount: 50_000n }, "submitted"),
    reports: ["OUTFLOW_OF_OPEN_SWAP"],
  },
  {
    hazard: "a sale of native coins that has no row",
    spoil: async ({ trader, chain, journal }) => {
      await trader.swapSelfExecuted({ id: "lost", sell: chain.tokens.ETH, buy: chain.tokens.USDC, amount: 1_000_000n });
      for (const table of ["ledger", "capabilities"]) journal.run(`DELETE FROM ${table} WHERE swap_id = 'lost'`);
      for (const id of ["lost", "run-lost"]) journal.run("DELETE FROM transitions WHERE subject_id = ?", id);
      journal.run("DELETE FROM swaps WHERE id = 'lost'");
      journal.run("DELETE FROM runs WHERE id = 'run-lost'");
    },
    reports: ["INTENT_WITHOUT_SWAP", "UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "a transfer in the clothes of an approval",
    spoil: async ({ trader, chain }) => {
      const data = chain.contracts.usdc.abi.encodeFunctionData("transfer", [STRANGER, 1n]) as Hex;
      await trader.perform({ id: "sly", purpose: "approve", to: chain.tokens.USDC.address, data });
    },
    reports: ["UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "a transfer out of a key's wallet that a row says to be a Safe",
    spoil: async ({ trader, chain, journal }) => {
      const data = chain.contracts.usdc.abi.encodeFunctionData("transfer", [STRANGER, 1n]) as Hex;
      await trader.perform({ id: "sly", purpose: "approve", to: chain.tokens.USDC.address, data });
      const types = {
        SafeTx: [
          { name: "operation", type: "uint8" },
          { name: "data", type: "bytes" },
        ],
      };
      const asked = { domain: { verifyingContract: chain.wallet.address }, message: { operation: "1", data: "0x" } };
      journal.insert("signatures", {
        ...{ digest: TypedDataEncoder.hash(asked.domain, types, asked.message), swap_id: "nobody", kind: "swap" },
        typed_data: JSON.stringify({ ...asked, types, primaryType: "SafeTx" }),
        ...{ valid_until_seconds: 1, intended_at_ms: 1 },
      });
    },
    reports: ["UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "native coins in the clothes of an approval",
    spoil: async ({ trader, chain }) => {
      const { WETH } = chain.tokens;
      const data = chain.contracts.weth.abi.encodeFunctionData("deposit") as Hex;
      await trader.perform({ id: "sly", purpose: "approve", to: WETH.address, data, value: 5n });
    },
    reports: ["UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "native coins in the clothes of a relay, which no daemon does",
    spoil: ({ trader }) => trader.perform({ id: "sly", purpose: "relay", to: STRANGER, data: "0x", value: 5n }),
    reports: ["UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "native coins sent for a swap that is said to be gasless, and to have ended",
    spoil: async ({ trader, journal, chain: { wallet, tokens } }) => {
      await trader.perform({ id: "sly.swap", purpose: "swap", to: STRANGER, data: "0x", value: 5n });
      const owner = toAddress(wallet.address);
      writeStory(journal, {
        ...{ id: "sly", strategy: "dca", slotMs: 9_999_999, runState: "failed", mode: "gasless" },
        ...{
          states: ["planned", "quoted", "cleared", "signed", "submitted", "expired"],
          wallet: owner,
          recipient: owner,
        },
        ...{ sell: tokens.ETH, buy: tokens.USDC, amountIn: 5n, amountOutMin: 1n, intentId: "sly.swap", nonce: 7n },
        ...{ fill: undefined, ledger: "released", spender: STRANGER, live: false },
      });
    },
    reports: ["FILL_OF_ENDED_SWAP"],
  },
  {
    hazard: "native coins that went along with a sale of tokens",
    spoil: (copy) => swapRouted(copy, { sell: "USDC", amount: 100n, along: 10n ** 18n }),
    reports: ["UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "a foreign transaction that takes tokens",
    spoil: async (copy) => {
      const data = copy.chain.contracts.usdc.abi.encodeFunctionData("transfer", [STRANGER, 1n]) as Hex;
      await foreign(copy, { to: copy.chain.tokens.USDC.address, data });
    },
    reports: ["BALANCE_DIFFERS", "FOREIGN_NONCE", "UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "wrapped coins that were unwrapped by a foreign transaction",
    spoil: async (copy) => {
      const data = copy.chain.contracts.weth.abi.encodeFunctionData("withdraw", [1n]) as Hex;
      await foreign(copy, { to: copy.chain.tokens.WETH.address, data });
    },
    reports: ["BALANCE_DIFFERS", "FOREIGN_NONCE", "UNEXPLAINED_OUTFLOW"],
  },
  {
    hazard: "a token balance that is one wei short",
    spoil: ({ journal }) =>
      journal.run("UPDATE baselines SET balance = CAST(CAST(balance AS INTEGER) + 1 AS TEXT) WHERE symbol = 'USDC'"),
    reports: ["BALANCE_DIFFERS", "BASELINE_DIFFERS"],
  },
  {
    hazard: "a native balance that is one wei short",
    spoil: async ({ chain }) => {
      const short = (await chain.nativeBalance(chain.wallet.address.toLowerCase() as never)) - 1n;
      await chain.rpc.call("anvil_setBalance", [chain.wallet.address, `0x${short.toString(16)}`]);
    },
    reports: ["BALANCE_DIFFERS"],
  },
];

/** Transactions, nonces and allowances. */
export const ACCOUNT_CASES: readonly Case[] = [
  {
    hazard: "a foreign transaction that does nothing but use a nonce",
    spoil: async (copy) => {
      await foreign(copy, { to: copy.chain.wallet.address });
      await copy.chain.rpc.call("anvil_setBalance", [copy.chain.wallet.address, `0x${(10n ** 21n).toString(16)}`]);
    },
    reports: ["FOREIGN_NONCE"],
  },
  {
    hazard: "a foreign transaction before the first of ours",
    spoil: ({ journal }) => {
      for (const table of ["lane_attempts", "lane_signings"]) journal.run(`DELETE FROM ${table} WHERE nonce = 0`);
      journal.run("DELETE FROM lane_intents WHERE nonce = 0");
    },
    reports: ["BALANCE_DIFFERS", "FOREIGN_NONCE"],
  },
  {
    hazard: "a nonce that was left out",
    spoil: async ({ journal, chain, trader }) => {
      const { USDC } = chain.tokens;
      await trader.perform({ id: "skips", purpose: "approve", to: USDC.address, data: "0x095ea7b3" }).catch(String);
      const nonce = Number(journal.get("SELECT max(nonce) + 2 FROM lane_intents"));
      const content = { to: USDC.address, data: "0x" as Hex, value: 0n };
      const signed = await signTransaction(chain.wallet, { chainId: chain.chainId, nonce, ...content });
      journal.run("UPDATE lane_intents SET nonce = NULL WHERE id = 'skips'");
      journal.insert("lane_intents", {
        id: "after",
        account: chain.wallet.address.toLowerCase(),
        chain_id: chain.chainId,
        purpose: "approve",
        to_address: USDC.address,
        data: "0x",
        value: "0",
        gas_limit: "1",
        max_fee_per_gas_cap: String(signed.maxFeePerGas),
        sign_by_seconds: 1,
        state: "broadcast",
        nonce,
        created_at_ms: 1,
      });
      writeAttempt(journal, { intentId: "after", kind: "original", nonce, ...signed });
      journal.run("UPDATE lane_intents SET nonce = ? WHERE id = 'skips'", nonce - 2);
    },
    reports: ["NONCE_GAP"],
  },
  {
    hazard: "a signed transaction to another address than its intent's",
    spoil: ({ journal }) => journal.run("UPDATE lane_intents SET to_address = ? WHERE id = 'own.approve1'", STRANGER),
    reports: ["ATTEMPT_DIFFERS"],
  },
  {
    hazard: "bytes that are no transaction",
    spoil: ({ journal }) => journal.run("UPDATE lane_attempts SET raw = '0x02ff' WHERE intent_id = 'own.approve1'"),
    reports: ["ATTEMPT_DIFFERS", "BALANCE_DIFFERS", "FOREIGN_NONCE", "INTENT_DIFFERS"],
  },
  {
    hazard: "a transaction that was signed before it was written down",
    spoil: ({ journal }) => journal.run("DELETE FROM lane_signings WHERE intent_id = 'own.swap'"),
    reports: ["ATTEMPT_DIFFERS"],
  },
  {
    hazard: "a transaction that pays more than its intent may",
    spoil: ({ journal }) => journal.run("UPDATE lane_intents SET max_fee_per_gas_cap = '1' WHERE id = 'own.swap'"),
    reports: ["ATTEMPT_DIFFERS"],
  },
  {
    hazard: "a replacement that a node would refuse",
    spoil: async ({ journal, chain }) => {
      const nonce = Number(journal.get("SELECT nonce FROM lane_intents WHERE id = 'own.swap'"));
      const content = { to: chain.contracts.settlement.address, nonce, chainId: chain.chainId };
      const data = String(journal.get("SELECT data FROM lane_intents WHERE id = 'own.swap'"));
      const fees = { maxFeePerGas: 21_000_000_000n, maxPriorityFeePerGas: 1_050_000_000n };
      const signed = await signTransaction(chain.wallet, { ...content, data, ...fees });
      writeAttempt(journal, { intentId: "own.swap", kind: "replacement", nonce, ...signed });
    },
    reports: ["REPLACEMENT_UNDERPRICED"],
  },
  {
    hazard: "a transaction that counts as reverted and succeeded",
    spoil: ({ journal }) => journal.run("UPDATE lane_intents SET outcome = 'reverted' WHERE id = 'own.approve1'"),
    reports: ["INTENT_DIFFERS"],
  },
  {
    hazard: "an intent that counts as never signed and was sent",
    spoil: ({ journal }) => journal.run("UPDATE lane_intents SET state = 'dropped' WHERE id = 'own.approve1'"),
    reports: ["INTENT_DIFFERS"],
  },
  {
    hazard: "gas that the books would count for less than was paid",
    spoil: ({ journal }) =>
      journal.run("UPDATE lane_costs SET gas_used = gas_used - 1, gas_price = '1' WHERE intent_id = 'own.swap'"),
    reports: ["COST_DIFFERS"],
  },
  {
    hazard: "a transaction whose gas was deleted, so that no book has it",
    spoil: ({ journal }) => journal.run("DELETE FROM lane_costs WHERE intent_id = 'to-native.approve1'"),
    reports: ["COST_DIFFERS"],
  },
  {
    hazard: "the gas of all transactions deleted",
    spoil: ({ journal }) => journal.run("DELETE FROM lane_costs"),
    reports: ["COST_DIFFERS"],
  },
  {
    hazard: "a fill dated back into another year",
    spoil: ({ journal }) =>
      journal.run("UPDATE swaps SET block_time_seconds = block_time_seconds - 31536000 WHERE id = 'gasless'"),
    reports: ["TIME_DIFFERS"],
  },
  {
    hazard: "gas that was paid a second later than its block",
    spoil: ({ journal }) =>
      journal.run("UPDATE lane_costs SET block_time_seconds = block_time_seconds + 1 WHERE intent_id = 'own.approve1'"),
    reports: ["TIME_DIFFERS"],
  },
  {
    hazard: "a sold token with more decimals than its contract has",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET sell_decimals = 18 WHERE id = 'own'"),
    reports: ["DECIMALS_DIFFER"],
  },
  {
    hazard: "the coin with fewer decimals than it has",
    spoil: ({ journal, chain }) =>
      journal.run("UPDATE baselines SET decimals = 6 WHERE token = ?", chain.tokens.ETH.address),
    reports: ["DECIMALS_DIFFER"],
  },
  {
    hazard: "the cost of a transaction that is said to have reverted",
    spoil: ({ journal }) => journal.run("UPDATE lane_costs SET succeeded = 0 WHERE intent_id = 'own.approve1'"),
    reports: ["COST_DIFFERS"],
  },
  {
    hazard: "a swap transaction that no swap belongs to",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET intent_id = NULL WHERE id = 'own'"),
    reports: ["INTENT_WITHOUT_SWAP"],
  },
  {
    hazard: "an allowance that outlived its swap",
    spoil: async (copy) => {
      const spender = copy.chain.contracts.settlement.address;
      const data = approval(copy, spender, 3n);
      await copy.trader.perform({ id: "left", purpose: "approve", to: copy.chain.tokens.USDC.address, data });
    },
    reports: ["ALLOWANCE_LEFT"],
  },
  {
    hazard: "an allowance to somebody that nobody recorded",
    spoil: async (copy) => {
      const data = approval(copy, STRANGER, 3n);
      await copy.trader.perform({ id: "secret", purpose: "approve", to: copy.chain.tokens.USDC.address, data });
    },
    reports: ["ALLOWANCE_UNEXPLAINED"],
  },
];
