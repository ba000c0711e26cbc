import { smaller } from "../../domain/money/bigint.ts";
import { COLD_ACCOUNT, COLD_SLOT, WARM_ACCOUNT, WARM_SLOT } from "./evm-gas.ts";

/**
 * What a token uses beyond one of OpenZeppelin: it is behind a proxy, checks lists of accounts, or works otherwise.
 * Permits and approvals count as reads of a balance do, and each account as the wallet of the probe does. Never less
 * than zero: a token that uses less is taken for a usual one. In numbers, since every quote counts with them, and all
 * are small.
 */
export interface ExtraGas {
  /** each call that is no transfer, as far as a read of a balance shows */
  readonly call: number;
  /** each transfer */
  readonly transfer: number;
  /** once a transaction: what its first call touches, and its first transfer with the two accounts of that */
  readonly first: number;
  /** each further account that takes part */
  readonly account: number;
  /** the first `transferFrom`, beyond what any transfer uses */
  readonly pull: number;
}

/** What a probe measured; the transfers are those of the probe, in their order, twice. */
export interface MeasuredGas {
  readonly firstRead: bigint;
  readonly secondRead: bigint;
  readonly transfers: readonly bigint[];
}

/** A transfer between a pool, the executor and a wallet, by its place in each of the two rounds. */
const FROM_POOL = 0;
const TO_WALLET = 1;
const BY_SETTLEMENT = 2;
const INTO_POOL = 3;
const ROUND = 4;

/** The same measured of `PermitToken`: a read that touches nothing for the first time, and such a transfer. */
const USUAL_READ = 781n;
const USUAL_TRANSFER = 3_604n;

/** Of a usual token its account and the slot of a balance are cold in the first read, and some memory is new. */
const USUAL_FIRST_READ = COLD_ACCOUNT - WARM_ACCOUNT + COLD_SLOT - WARM_SLOT + 6n;

/** Each sender in the first round is called for the first time. */
const USUAL_FIRST_ROUND = COLD_ACCOUNT - WARM_ACCOUNT;

/** No token in use comes near it; one that burns gas on purpose is not to make a quote's gas limit absurd. */
const MOST_EXTRA = 100_000n;

function bounded(extra: bigint): number {
  if (extra < 0n) return 0;
  return Number(smaller(extra, MOST_EXTRA));
}

/**
 * Both rounds move the same balances between the same states, so that a transfer of the first round uses more than the
 * same one of the second by what it touches first; and in the last one of all nothing is new.
 */
export function extraGasOf({ firstRead, secondRead, transfers }: MeasuredGas): ExtraGas {
  const at = (place: number) => transfers[place] ?? 0n;
  const touchedAt = (place: number) => bounded(at(place) - at(place + ROUND) - USUAL_FIRST_ROUND);
  return {
    call: bounded(secondRead - USUAL_READ),
    transfer: bounded(at(INTO_POOL + ROUND) - USUAL_TRANSFER),
    first: bounded(firstRead - secondRead - USUAL_FIRST_READ) + touchedAt(FROM_POOL),
    account: touchedAt(TO_WALLET),
    pull: touchedAt(BY_SETTLEMENT),
  };
}
