import type { Decoding } from "../../../domain/guard/decoded-swap.ts";
import { oneContract, type StatedContracts } from "../../../domain/guard/swap-contracts.ts";
import type { Address } from "../../../domain/money/address.ts";
import type { RunEvent } from "../../../domain/run/events.ts";

interface WithContracts {
  readonly contracts: StatedContracts;
}

/** One address where it is all three contracts, in the form of the rows of before they were distinguished. */
export type Stored<T extends WithContracts> = Omit<T, "contracts"> &
  ({ readonly router: Address } | Pick<T, "contracts">);

/** @returns the value as rows have it */
export function storedContracts<T extends WithContracts>({ contracts, ...others }: T): Stored<T> {
  const { spender, target, verifyingContract } = contracts;
  const isOne = target !== undefined && spender === target && verifyingContract === target;
  return isOne ? { router: target, ...others } : { contracts, ...others };
}

/** Reads what {@link storedContracts} gave, in this release or an older one. */
export function readContracts<T extends WithContracts>(stored: Stored<T>): T {
  if (!("router" in stored)) return stored as unknown as T;
  const { router, ...others } = stored;
  return { contracts: oneContract(router), ...others } as unknown as T;
}

/** @returns the event as rows have it */
export function storedEvent(event: RunEvent): unknown {
  return withDecoding(event, storedContracts);
}

/** Reads what {@link storedEvent} gave, in this release or an older one. */
export function readEvent(stored: unknown): RunEvent {
  return withDecoding(stored as RunEvent, readContracts) as RunEvent;
}

type DecodedSwap = Extract<Decoding, { ok: true }>["swap"];

/** Of all events only the reading carries a decoded swap. */
function withDecoding(event: RunEvent, change: (swap: DecodedSwap) => unknown): unknown {
  if (event.kind !== "facts-read" || !event.reading.decoding.ok) return event;
  const { reading } = event;
  return { ...event, reading: { ...reading, decoding: { ok: true, swap: change(event.reading.decoding.swap) } } };
}
