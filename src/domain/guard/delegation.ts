import { type Address, type Hex, toAddress } from "../money/address.ts";

/** The code of an account that runs the code of another one (EIP-7702): three bytes and that account's address. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

/** To whom an account's code delegates; undefined where it does not. */
export function delegateOf(code: Hex): Address | undefined {
  const address = DELEGATION.exec(code.toLowerCase())?.[1];
  return address === undefined ? undefined : toAddress(`0x${address}`);
}

/** The code of an account that delegates. */
export function delegationTo(delegate: Address): Hex {
  return `0xef0100${delegate.slice(2)}`;
}

/**
 * Why an account of ours with this code must not sign. An account of a key has no code unless its key once signed a
 * delegation: one that is not configured is the usual sign of a stolen key.
 * @param named the delegate that the configuration names for it
 * @returns undefined where it has none, or the one that is named
 */
export function codeProblem(code: Hex, named: Address | undefined): string | undefined {
  if (code === "0x") return undefined;
  const delegate = delegateOf(code);
  if (delegate === undefined) return "the account is a contract whose code the configuration does not name";
  if (delegate === named) return undefined;
  const instead = named === undefined ? "which the configuration does not name" : `not to ${named}, which it names`;
  return (
    `the account delegates to ${delegate} (EIP-7702), ${instead}. Only its key could do that: if it was not you, ` +
    "the key is stolen; move what is left to a new account at once. If it was you, name it as the wallet's delegate"
  );
}
