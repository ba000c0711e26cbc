import { createECDH } from "node:crypto";
import { keccak256 } from "ethers";
import { type Address, toAddress } from "../../domain/money/address.ts";
import { Secret } from "../../net/secret.ts";
import { KeyError } from "./key-error.ts";
import { isMnemonic } from "./mnemonic.ts";

const KEY_PATTERN = /^(?:0x)?([0-9a-fA-F]{64})$/;

/** The order of secp256k1; a private key is a number from 1 to below it. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * Checks a private key before any library sees it, because libraries print a bad key in their errors.
 * @returns the key as `0x` and 64 digits
 * @throws KeyError
 */
export function readPrivateKey(privateKey: Secret): string {
  const digits = KEY_PATTERN.exec(privateKey.reveal().trim())?.[1];
  if (digits === undefined) throw new KeyError("not a private key", whatStands(privateKey.reveal().trim()));
  const number = BigInt(`0x${digits}`);
  if (number === 0n || number >= CURVE_ORDER) {
    throw new KeyError("not a private key", "the private key is not a number of the curve: generate a new one");
  }
  return `0x${digits.toLowerCase()}`;
}

/** What stands where a key should: its shape only, never a part of it. */
function whatStands(text: string): string {
  if (text === "") return "the private key is empty: it has 64 hexadecimal digits";
  if (isMnemonic(text)) {
    return "these are words and no private key: write them to a file, and `swapd wallet import` makes a keystore of them";
  }
  const count = /^(?:0x)?([0-9a-fA-F]+)$/.exec(text)?.[1]?.length;
  const found = count === undefined ? "is not 64 hexadecimal digits" : `has ${count} hexadecimal digits, not 64`;
  return `the private key ${found}: check what the reference reads`;
}

/**
 * The account of a key, lower case. By the platform's own arithmetic, which takes a third of the time: a daemon may have
 * hundreds of wallets.
 * @param key as {@link readPrivateKey} gives it
 */
export function addressOfKey(key: string): Address {
  const curve = createECDH("secp256k1");
  curve.setPrivateKey(key.slice(2), "hex");
  // Without the byte that says how the point is written.
  return toAddress(`0x${keccak256(curve.getPublicKey().subarray(1)).slice(-40)}`);
}

/** The account of a text that may be a private key. @returns undefined where it is none */
export function accountOfKey(text: string): Address | undefined {
  try {
    return addressOfKey(readPrivateKey(new Secret(text)));
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return undefined;
  }
}
