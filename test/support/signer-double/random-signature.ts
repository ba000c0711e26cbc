import { randomBytes } from "node:crypto";
import { Signature, SigningKey } from "ethers";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other one of the two signatures that recover to the same key. */
export function withHighS({ r, s, yParity }: Signature): { r: string; s: string; yParity: 0 | 1 } {
  return { r, s: word(ORDER - BigInt(s)), yParity: yParity === 0 ? 1 : 0 };
}

/** ECDSA from its definition, with a number drawn at random for each signature, as vaults and HSMs do. Low s. */
export function randomSignature(key: string, digest: string): Signature {
  const number = (BigInt(`0x${randomBytes(32).toString("hex")}`) % (ORDER - 1n)) + 1n;
  const point = SigningKey.computePublicKey(word(number), false);
  const r = BigInt(`0x${point.slice(4, 68)}`) % ORDER;
  const isOdd = BigInt(`0x${point.slice(68)}`) % 2n === 1n;
  const s = (inverse(number) * ((BigInt(digest) + r * BigInt(key)) % ORDER)) % ORDER;
  const isLow = s <= ORDER / 2n;
  return Signature.from({ r: word(r), s: word(isLow ? s : ORDER - s), yParity: isOdd === isLow ? 1 : 0 });
}

/** By Fermat: the order is a prime. */
function inverse(value: bigint): bigint {
  let [result, base, exponent] = [1n, value % ORDER, ORDER - 2n];
  for (; exponent > 0n; exponent /= 2n) {
    if (exponent % 2n === 1n) result = (result * base) % ORDER;
    base = (base * base) % ORDER;
  }
  return result;
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
