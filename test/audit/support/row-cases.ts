import { toAddress } from "../../../src/domain/money/address.ts";
import { writeStory } from "./journal.ts";
import type { Case } from "./world.ts";

const ELSEWHERE = `0x${"ab".repeat(20)}`;

/** Spoils the database alone. */
export const ROW_CASES: readonly Case[] = [
  {
    hazard: "facts of what was found that are cut off",
    spoil: ({ journal, chain }) =>
      journal.insert("differences", {
        ...{ key: "new", wallet: chain.wallet.address.toLowerCase(), kind: "new", scope: "wallet", facts: '{"hash":' },
        ...{ text: "it may have traded before", found_at_ms: 1, settled_by: "ops", settled_at_ms: 2 },
      }),
    reports: ["ROW_UNREADABLE"],
  },
  {
    hazard: "an amount that is no whole number",
    spoil: ({ journal }) => journal.run("UPDATE ledger SET amount = '1.5' WHERE swap_id = 'own'"),
    reports: ["LEDGER_MISSING", "ROW_UNREADABLE", "TOTAL_DIFFERS"],
  },
  {
    hazard: "a number of decimals that no token can have",
    spoil: ({ journal }) => journal.run("UPDATE baselines SET decimals = 2000000000"),
    reports: ["BASELINE_MISSING", "ROW_UNREADABLE"],
  },
  {
    hazard: "a time of a fill that no calendar has",
    spoil: ({ journal }) => journal.run("UPDATE lane_costs SET block_time_seconds = 9000000000000"),
    reports: ["COST_DIFFERS", "ROW_UNREADABLE"],
  },
  {
    hazard: "a time of a signature that no calendar has",
    spoil: ({ journal }) => journal.run("UPDATE signatures SET signed_at_ms = 9000000000000000 WHERE swap_id = 'open'"),
    reports: ["ROW_UNREADABLE"],
  },
  {
    hazard: "a move of nothing that moves",
    spoil: ({ journal }) =>
      journal.run("UPDATE transitions SET subject = 'coin' WHERE subject_id = 'own' AND to_state = 'final'"),
    reports: ["ROW_UNREADABLE", "STATE_NOT_REPLAYED"],
  },
  {
    hazard: "a wallet whose baseline was lost",
    spoil: ({ journal }) => journal.run("DELETE FROM baselines"),
    reports: ["BASELINE_MISSING"],
  },
  {
    hazard: "a final swap that moves again",
    spoil: ({ journal }) => {
      journal.walk("swap", "twice", []);
      const move = { subject: "swap", subject_id: "own", from_state: "final", to_state: "final", at_ms: 9 };
      journal.insert("transitions", move);
    },
    reports: ["TRANSITION_ILLEGAL"],
  },
  {
    hazard: "a history with a missing line",
    spoil: ({ journal }) => journal.run("DELETE FROM transitions WHERE subject_id = 'own' AND to_state = 'mined'"),
    reports: ["TRANSITION_BROKEN"],
  },
  {
    hazard: "a state that no transition led to",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET state = 'confirmed' WHERE id = 'own'"),
    reports: ["STATE_NOT_REPLAYED"],
  },
  {
    hazard: "a signed swap whose row was deleted",
    spoil: ({ journal }) => {
      journal.run("DELETE FROM swaps WHERE id = 'expired'");
      journal.run("UPDATE runs SET state = 'skipped' WHERE id = 'run-expired'");
      journal.run("DELETE FROM transitions WHERE subject_id = 'run-expired' AND from_state IS NOT NULL");
      for (const [from, to] of [["due", "skipped"]]) {
        const move = { subject: "run", subject_id: "run-expired", from_state: from ?? null, to_state: to ?? "" };
        journal.insert("transitions", { ...move, at_ms: 1 });
      }
    },
    reports: ["SIGNED_ROW_MISSING"],
  },
  {
    hazard: "a run that counts as filled while its swap expired",
    spoil: ({ journal }) => {
      journal.run("UPDATE runs SET state = 'filled' WHERE id = 'run-expired'");
      journal.run("UPDATE transitions SET to_state = 'filled' WHERE to_state = 'failed'");
    },
    reports: ["RUN_END_WRONG"],
  },
  {
    hazard: "an ended run without the instant of its end",
    spoil: ({ journal }) => journal.run("UPDATE runs SET ended_at_ms = NULL WHERE id = 'run-own'"),
    reports: ["RUN_END_WRONG"],
  },
  {
    hazard: "a run that ended while its swap may still land",
    spoil: ({ journal }) => {
      journal.run("UPDATE runs SET state = 'failed', ended_at_ms = 1 WHERE id = 'run-open'");
      const move = { subject: "run", subject_id: "run-open", from_state: "executing", to_state: "failed", at_ms: 9 };
      journal.insert("transitions", move);
    },
    reports: ["RUN_END_WRONG"],
  },
  {
    hazard: "a slot that has a run and counts as missed",
    spoil: ({ journal }) => {
      const slot = Number(journal.get("SELECT slot_ms FROM runs WHERE id = 'run-own'"));
      const gap = { strategy: "dca", first_slot_ms: slot - 5, last_slot_ms: slot, count: 2, reason: "missed" };
      journal.insert("gaps", { ...gap, recorded_at_ms: 1 });
    },
    reports: ["SLOT_TWICE"],
  },
  {
    hazard: "a slot in two gaps",
    spoil: ({ journal }) => {
      for (const first of [5, 7]) {
        const gap = { strategy: "dca", first_slot_ms: first, last_slot_ms: 9, count: 2, reason: "missed" };
        journal.insert("gaps", { ...gap, recorded_at_ms: 1 });
      }
    },
    reports: ["SLOT_TWICE"],
  },
  {
    hazard: "a swap whose run was deleted",
    spoil: ({ journal }) => {
      journal.run("DELETE FROM runs WHERE id = 'run-own'");
      journal.run("DELETE FROM transitions WHERE subject_id = 'run-own'");
    },
    reports: ["RUN_MISSING"],
  },
  {
    hazard: "another mode than the transaction shows",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET mode = 'gasless' WHERE id = 'own'"),
    reports: ["MODE_DIFFERS"],
  },
  {
    hazard: "the signatures of a filled swap deleted",
    spoil: ({ journal }) => journal.run("DELETE FROM signatures WHERE swap_id = 'gasless'"),
    reports: ["SIGNATURE_MISSING"],
  },
  {
    hazard: "a minimum lowered after the fact",
    spoil: ({ journal }) =>
      journal.run(`UPDATE swaps SET body = '{"terms":{"amountOutMin":{"$bigint":"5"}}}' WHERE id = 'own'`),
    reports: ["BODY_DIFFERS"],
  },
  {
    hazard: "another quote than the one that was taken",
    spoil: ({ journal }) => {
      journal.run(`UPDATE swaps SET quote_id = 'other', body = '{"quote":{"id":"taken"}}' WHERE id = 'own'`);
    },
    reports: ["BODY_DIFFERS"],
  },
  {
    hazard: "a fill that counts for no dollars",
    spoil: ({ journal }) => journal.run("UPDATE ledger SET usd = '0' WHERE swap_id = 'own'"),
    reports: ["LEDGER_UNVALUED"],
  },
  {
    hazard: "the right of an ended swap set live again",
    spoil: ({ journal }) => journal.run("UPDATE capabilities SET live = 1 WHERE swap_id = 'own'"),
    reports: ["CAPABILITY_LEFT"],
  },
  {
    hazard: "a strategy whose memory was emptied",
    spoil: ({ journal }) => {
      const row = {
        id: "dca",
        kind: "dca",
        spec_hash: "s",
        spec: "{}",
        memory: "{}",
        memory_at_ms: 1,
        last_slot_ms: 1,
      };
      journal.insert("strategies", row);
    },
    reports: ["MEMORY_LOST"],
  },
  {
    hazard: "two fills at one place of a run",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET run_id = 'run-own', attempt = 2 WHERE id = 'to-native'"),
    reports: ["PLACE_FILLED_TWICE", "RUN_END_WRONG"],
  },
  {
    hazard: "two open swaps of one wallet and token",
    spoil: ({ journal, chain }) => {
      const { DAI, USDC } = chain.tokens;
      const wallet = toAddress(chain.wallet.address);
      writeStory(journal, {
        id: "second",
        strategy: "other",
        slotMs: 1,
        runState: "executing",
        mode: "self-executed",
        states: ["planned", "quoted", "cleared", "signed"],
        wallet,
        recipient: wallet,
        sell: DAI,
        buy: USDC,
        amountIn: 5n,
        amountOutMin: 1n,
        intentId: null,
        nonce: null,
        fill: undefined,
        ledger: "reserved",
        spender: wallet,
        live: false,
      });
    },
    reports: ["TWO_LIVE"],
  },
  {
    hazard: "two live rights to spend one token",
    spoil: ({ journal }) => {
      journal.run("DROP INDEX capabilities_one_live");
      const dai = String(journal.get("SELECT sell_token FROM swaps WHERE id = 'expired'"));
      journal.run("UPDATE capabilities SET live = 1 WHERE token = ?", dai);
    },
    reports: ["CAPABILITY_LEFT", "TWO_LIVE"],
  },
  {
    hazard: "a fill that the ledger does not know",
    spoil: ({ journal }) => journal.run("DELETE FROM ledger WHERE swap_id = 'own'"),
    reports: ["LEDGER_MISSING"],
  },
  {
    hazard: "a ledger that spent one unit less than was sold",
    spoil: ({ journal }) => journal.run("UPDATE ledger SET amount = '4999999' WHERE swap_id = 'own'"),
    reports: ["LEDGER_DIFFERS"],
  },
  {
    hazard: "money released while its swap may still land",
    spoil: ({ journal }) => journal.run("UPDATE ledger SET state = 'released' WHERE swap_id = 'open'"),
    reports: ["LEDGER_DIFFERS"],
  },
  {
    hazard: "money spent for a swap that expired",
    spoil: ({ journal }) => journal.run("UPDATE ledger SET state = 'spent' WHERE swap_id = 'expired'"),
    reports: ["LEDGER_DIFFERS"],
  },
  {
    hazard: "a reservation that outlives its swap",
    spoil: ({ journal }) => journal.run("UPDATE ledger SET state = 'reserved' WHERE swap_id = 'expired'"),
    reports: ["RESERVATION_LEFT"],
  },
  {
    hazard: "a signature that is out and not recorded as a live right",
    spoil: ({ journal }) => journal.run("UPDATE capabilities SET live = 0 WHERE swap_id = 'open'"),
    reports: ["CAPABILITY_MISSING"],
  },
  {
    hazard: "typed data that is no JSON",
    spoil: ({ journal }) =>
      journal.run("UPDATE signatures SET typed_data = '{' WHERE swap_id = 'own' OR kind = 'swap'"),
    reports: ["TYPED_DATA_UNREADABLE"],
  },
  {
    hazard: "a digest that is of something else than the stored message",
    spoil: ({ journal }) =>
      journal.run(
        "UPDATE signatures SET typed_data = replace(typed_data, '\"amountOutMin\":\"1\"', '\"amountOutMin\":\"0\"') WHERE kind = 'swap' AND swap_id = 'gasless'",
      ),
    reports: ["DIGEST_DIFFERS"],
  },
  {
    hazard: "a signature by another key",
    spoil: ({ journal }) =>
      journal.run(
        "UPDATE signatures SET signature = (SELECT signature FROM signatures WHERE swap_id = 'open' AND kind = 'swap') WHERE swap_id = 'gasless' AND kind = 'swap'",
      ),
    reports: ["SIGNER_DIFFERS"],
  },
  {
    hazard: "a signature that is no signature",
    spoil: ({ journal }) =>
      journal.run("UPDATE signatures SET signature = '0x1234' WHERE swap_id = 'open' AND kind = 'permit'"),
    reports: ["SIGNER_DIFFERS"],
  },
  {
    hazard: "a signed order for another recipient than the swap's",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET recipient = ? WHERE id = 'open'", ELSEWHERE),
    reports: ["SIGNED_SWAP_DIFFERS"],
  },
  {
    hazard: "a signed minimum below what the swap required",
    spoil: ({ journal }) => journal.run("UPDATE swaps SET amount_out_min = '2' WHERE id = 'open'"),
    reports: ["SIGNED_SWAP_DIFFERS"],
  },
  {
    hazard: "an order that may be filled for longer than is recorded",
    spoil: ({ journal }) =>
      journal.run("UPDATE signatures SET valid_until_seconds = 1 WHERE swap_id = 'expired' AND kind = 'swap'"),
    reports: ["SIGNED_SWAP_DIFFERS"],
  },
  {
    hazard: "a permit that may be used for longer than is recorded",
    spoil: ({ journal }) =>
      journal.run("UPDATE signatures SET valid_until_seconds = 1 WHERE swap_id = 'expired' AND kind = 'permit'"),
    reports: ["PERMIT_DIFFERS"],
  },
  {
    hazard: "a permit for another token than the sold one",
    spoil: ({ journal }) => {
      const permitOf = "(SELECT digest FROM signatures WHERE kind = 'permit' AND swap_id = 'gasless')";
      journal.run(`UPDATE signatures SET swap_id = 'open' WHERE digest = ${permitOf}`);
    },
    reports: ["PERMIT_DIFFERS"],
  },
];
