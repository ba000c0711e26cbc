import {
  BACK_TO_ZERO_REFUND,
  CHANGE_SLOT,
  COLD_ACCOUNT,
  COLD_SLOT,
  FILL_SLOT,
  type Gas,
  WARM_ACCOUNT,
  WARM_SLOT,
} from "./evm-gas.ts";

/**
 * What all hops have in common. Work is read off `debug_traceTransaction` of our contracts (all but calls, storage and
 * logs), tokens are those of OpenZeppelin. What another one uses beyond them, because it is behind a proxy or checks
 * lists of accounts, is measured in its probe (`extra-gas.ts`) and counted for the whole swap (`token-gas.ts`). Routes
 * are chosen as if all tokens were usual ones: what is sold and what is bought adds nearly the same to each of them.
 */

/** A hop's six words: 71 bytes that are not zero, and 121 that are. */
export const HOP_CALLDATA = 1_620n;

/** The settlement passes a hop on: so much work for each. */
const PASSED_ON = 700n;

/** Where the pool is, computed: no storage and no call. */
export const COMPUTED = 450n;

/** What the factory says of the pool; the factory was met before. */
export const ASKED = WARM_ACCOUNT + COLD_SLOT + 500n;

/** A read of a balance that was touched before. */
export const BALANCE = WARM_ACCOUNT + WARM_SLOT + 320n;

/** A transfer without its two slots: call, work, and the log with three topics and one word. */
export const TRANSFER = WARM_ACCOUNT + 1_550n + 1_756n;

/**
 * The slots of two transfers between the executor and a pool: the pool's two balances are touched for the first time and
 * change; the executor's were written to before.
 */
const POOL_BALANCES = 2n * (COLD_SLOT + CHANGE_SLOT) + 4n * WARM_SLOT;

/** A hop without how its pool is found, what happens inside it, and what the executor does for its kind. */
export const HOP_FRAME = HOP_CALLDATA + PASSED_ON + 2n * TRANSFER + POOL_BALANCES;

/** The first hop of a protocol whose factory is asked: it is touched for the first time. */
export const FACTORY = COLD_ACCOUNT - WARM_ACCOUNT;

/**
 * A token that comes through the executor: its contract and the executor's balance are touched for the first time, the
 * balance goes from zero to something and back; the ledger reads it before and after (with 2,200 of work).
 */
export const TOKEN_GAS: Gas = {
  used: COLD_ACCOUNT - WARM_ACCOUNT + COLD_SLOT - WARM_SLOT + FILL_SLOT - WARM_SLOT + 2n * BALANCE + 2_200n,
  refund: BACK_TO_ZERO_REFUND,
};

/** What each token between the one sold and the one bought adds to a route. */
export const BETWEEN_GAS = TOKEN_GAS.used - TOKEN_GAS.refund;

/** The executor's transfer to the recipient, whose balance is read before and after. */
export const DELIVERY = TRANSFER + 2n * BALANCE + 560n;

/** What the recipient's own token adds where pools pay him: its contract is touched for the first time. */
export const DIRECT_TOKEN = COLD_ACCOUNT - WARM_ACCOUNT;

/** A hop whose pool pays the recipient: his balance is read before and after. */
export const DIRECT_HOP = 2n * BALANCE + 500n;
