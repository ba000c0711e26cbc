import type { Hex } from "../../../src/domain/money/address.ts";
import type { Case } from "./world.ts";

/** What is written only once elsewhere, deleted or changed by hand. */
export const FORGOTTEN_CASES: readonly Case[] = [
  {
    hazard: "the baseline of one token lost",
    spoil: ({ journal, chain }) => journal.run("DELETE FROM baselines WHERE token = ?", chain.tokens.DAI.address),
    reports: ["BASELINE_MISSING"],
  },
  {
    hazard: "a baseline lowered, so that what was taken counts as a deposit",
    spoil: ({ journal, chain }) =>
      journal.run("UPDATE baselines SET balance = '5' WHERE token = ?", chain.tokens.DAI.address),
    reports: ["BASELINE_DIFFERS"],
  },
  {
    hazard: "the checks of a signed swap deleted",
    spoil: ({ journal }) => journal.run("DELETE FROM checks WHERE swap_id = 'own'"),
    reports: ["CHECKS_MISSING"],
  },
  {
    hazard: "the right of a swap that ended deleted",
    spoil: ({ journal }) => journal.run("DELETE FROM capabilities WHERE swap_id = 'own'"),
    reports: ["CAPABILITY_MISSING"],
  },
  {
    hazard: "a run that lacks a place",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET position = 1 WHERE id = 'own'"),
    reports: ["PLACE_MISSING"],
  },
  {
    hazard: "a place that lacks its first attempt",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET attempt = 2 WHERE id = 'expired'"),
    reports: ["PLACE_MISSING"],
  },
  {
    hazard: "a slot moved past all that its strategy handled",
    spoil: ({ journal }) => {
      const slot = Number(journal.get("SELECT max(slot_ms) FROM runs"));
      const row = { id: "dca", kind: "dca", spec_hash: "s", spec: "{}", memory: '{"version":1}', memory_at_ms: 1 };
      journal.insert("strategies", { ...row, last_slot_ms: slot });
      journal.run("UPDATE runs SET slot_ms = ? WHERE id = 'run-own'", slot + 7);
    },
    reports: ["SLOT_MOVED"],
  },
  {
    hazard: "a database that found itself behind, which nobody accepted",
    spoil: ({ journal, chain }) =>
      journal.insert("differences", {
        ...{ key: "new", wallet: chain.wallet.address.toLowerCase(), kind: "new", scope: "wallet", facts: "{}" },
        ...{ text: "this database knows nothing of it", found_at_ms: 1 },
      }),
    reports: ["DATABASE_BEHIND"],
  },
  {
    hazard: "an allowance whose grant was deleted, so that nobody revokes it",
    spoil: async (copy) => {
      const spender = copy.chain.contracts.settlement.address;
      const { abi } = copy.chain.contracts.usdc;
      const data = abi.encodeFunctionData("approve", [spender, 3n]) as Hex;
      await copy.trader.perform({ id: "left", purpose: "approve", to: copy.chain.tokens.USDC.address, data });
      copy.journal.run("DELETE FROM grants");
    },
    reports: ["ALLOWANCE_LEFT", "GRANT_MISSING"],
  },
  {
    hazard: "a budget freed by its sum",
    spoil: ({ journal }) => journal.run("UPDATE totals SET amount = '0' WHERE kind = 'sold'"),
    reports: ["TOTAL_DIFFERS"],
    keepsSums: true,
  },
  {
    hazard: "a day's cap freed by the sum of an hour",
    spoil: ({ journal }) => journal.run("DELETE FROM sold_usd_hours"),
    reports: ["TOTAL_DIFFERS"],
    keepsSums: true,
  },
  {
    hazard: "a month's cap freed by the sums of its days",
    spoil: ({ journal }) => journal.run("UPDATE sold_usd_days SET usd = '0'"),
    reports: ["TOTAL_DIFFERS"],
    keepsSums: true,
  },
  {
    hazard: "a day's budget freed by what a strategy sold in it",
    spoil: ({ journal }) => journal.run("UPDATE sold_by_time SET amount = '0'"),
    reports: ["TOTAL_DIFFERS"],
    keepsSums: true,
  },
  {
    hazard: "a swap that counts for fewer dollars",
    spoil: ({ journal }) => {
      journal.run("UPDATE ledger SET usd = '1000'");
      journal.recount();
      journal.run("UPDATE ledger SET usd = '3' WHERE swap_id = 'own'");
    },
    reports: ["TOTAL_DIFFERS"],
    keepsSums: true,
  },
  {
    hazard: "a run of which nothing is left",
    spoil: ({ journal }) => {
      journal.insert("runs", {
        ...{ id: "denied", strategy: "dca", slot_ms: 5, state: "failed", spec_hash: "s", window_ends_ms: 6 },
        ...{ created_at_ms: 5, ended_at_ms: 6 },
      });
      journal.recount();
      journal.run("DELETE FROM runs WHERE id = 'denied'");
    },
    reports: ["TOTAL_DIFFERS"],
    keepsSums: true,
  },
  {
    hazard: "old gaps deleted with the link that closed them",
    spoil: ({ journal }) => journal.run("UPDATE history_head SET seq = seq + 2"),
    reports: ["HISTORY_CHANGED"],
  },
  {
    hazard: "the signatures of a swap that is open deleted",
    spoil: ({ journal }) => {
      journal.run("UPDATE identity SET signatures = (SELECT count(*) FROM signatures)");
      journal.run("DELETE FROM signatures WHERE swap_id = 'open'");
    },
    reports: ["SIGNATURE_MISSING"],
  },
];
