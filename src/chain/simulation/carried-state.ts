import type { Address, Hex } from "../../domain/money/address.ts";
import { toQuantity } from "../quantity.ts";
import { readAddress, readBytes, readHash, readNumber, readObject, readQuantity } from "../read-values.ts";
import type { LentAccount, LentState } from "./method.ts";

type Fields = Readonly<Record<string, unknown>>;

const ZERO_WORD: Hex = `0x${"0".repeat(64)}`;

/**
 * What was injected, with what a call changed on top of it, as a tracer reports it: `pre` and `post` of all that
 * differs. A word that stands in `pre` alone was set to zero.
 */
export function carriedOn(lent: LentState, changes: unknown): LentState {
  const { pre, post } = readObject(changes, "what a call changes");
  const [before, after] = [accountsOf(pre), accountsOf(post)];
  const changed = [...new Set([...before.keys(), ...after.keys()])].map((address): [Address, LentAccount] => [
    address,
    changedAccount(lent[address], before.get(address) ?? {}, after.get(address) ?? {}),
  ]);
  return { ...lent, ...Object.fromEntries(changed) };
}

function changedAccount(lent: LentAccount | undefined, before: Fields, after: Fields): LentAccount {
  const cleared = [...wordsOf(before).keys()].map((key) => [key, ZERO_WORD] as const);
  const stateDiff = { ...lent?.stateDiff, ...Object.fromEntries(cleared), ...Object.fromEntries(wordsOf(after)) };
  const { balance, nonce, code } = after;
  return {
    ...lent,
    ...(balance === undefined ? {} : { balance: toQuantity(readQuantity(balance, "a changed balance")) }),
    ...(nonce === undefined ? {} : { nonce: toQuantity(nonceOf(nonce)) }),
    ...(code === undefined ? {} : { code: readBytes(code, "changed code") }),
    ...(Object.keys(stateDiff).length === 0 ? {} : { stateDiff }),
  };
}

function accountsOf(value: unknown): ReadonlyMap<Address, Fields> {
  const accounts = Object.entries(readObject(value, "changed accounts"));
  return new Map(
    accounts.map(([address, account]) => [
      readAddress(address, "a changed account"),
      readObject(account, "an account"),
    ]),
  );
}

function wordsOf({ storage }: Fields): ReadonlyMap<Hex, Hex> {
  if (storage === undefined || storage === null) return new Map();
  const words = Object.entries(readObject(storage, "changed words"));
  return new Map(words.map(([key, word]) => [readHash(key, "a word's key"), readHash(word, "a changed word")]));
}

/** Some nodes report a nonce as a number, others as a quantity. */
function nonceOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : readNumber(value, "a changed nonce");
}
