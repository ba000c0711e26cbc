import { createHmac, pbkdf2Sync } from "node:crypto";
import { computeAddress, SigningKey } from "ethers";
import { expect, test } from "vitest";
import { FIRST_ACCOUNT, isMnemonic, keyOfMnemonic } from "../../../src/adapters/keys/mnemonic.ts";
import { Secret } from "../../../src/net/secret.ts";

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const HARDENED = 2 ** 31;

const keyOf = (words: string, path = FIRST_ACCOUNT): string =>
  keyOfMnemonic({ words: new Secret(words), path }).reveal();
const padded = (last: string, count: number): string =>
  [...Array.from({ length: count - 1 }, () => "abandon"), last].join(" ");

/** BIP-32 from its text alone. */
function derived(words: string, path: string): string {
  const seed = pbkdf2Sync(words, "mnemonic", 2_048, 64, "sha512");
  let node = createHmac("sha512", "Bitcoin seed").update(seed).digest();
  for (const step of path.split("/").slice(1)) {
    const index = Number.parseInt(step, 10) + (step.endsWith("'") ? HARDENED : 0);
    const [key, chain] = [node.subarray(0, 32), node.subarray(32)];
    const head =
      index >= HARDENED
        ? Buffer.concat([Buffer.of(0), key])
        : Buffer.from(new SigningKey(key).compressedPublicKey.slice(2), "hex");
    const tail = Buffer.alloc(4);
    tail.writeUInt32BE(index);
    const next = createHmac("sha512", chain)
      .update(Buffer.concat([head, tail]))
      .digest();
    const sum = (BigInt(`0x${next.toString("hex", 0, 32)}`) + BigInt(`0x${key.toString("hex")}`)) % CURVE_ORDER;
    node = Buffer.concat([Buffer.from(sum.toString(16).padStart(64, "0"), "hex"), next.subarray(32)]);
  }
  return `0x${node.toString("hex", 0, 32)}`;
}

test.each([
  [12, "about", "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"],
  [24, "art", "0xF278cF59F82eDcf871d630F28EcC8056f25C1cdb"],
])("a mnemonic of %d words gives the published address", (count, last, address) => {
  expect(computeAddress(keyOf(padded(last, count)))).toBe(address);
});

test.each([FIRST_ACCOUNT, "m/44'/60'/0'/0/7", "m/44'/60'/3'/0", "m/0", "m/44'/60'/0'/2147483647"])(
  "the key at %s is what BIP-32 says",
  (path) => {
    const words = padded("about", 12);
    expect(keyOf(words, path)).toBe(derived(words, path));
    expect(keyOf(words, path.replaceAll("'", "h"))).toBe(derived(words, path));
  },
);

test("a key in hexadecimal digits is no mnemonic, and words are, also those of another language", () => {
  expect(isMnemonic("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d")).toBe(false);
  expect(isMnemonic("ab cd")).toBe(false);
  expect(isMnemonic(" élever abaisser\nabandon ")).toBe(true);
  expect(() => keyOf(padded("élever", 12))).toThrow("word 12 is not in the English list");
});
