import { createCipheriv, pbkdf2Sync, scryptSync } from "node:crypto";
import { keccak256 } from "ethers";
import { expect, test } from "vitest";
import { openKeystore } from "../../../src/adapters/keys/keystore.ts";
import { decryptKeystore, statedAddress } from "../../../src/adapters/keys/keystore-file.ts";
import { scrypt, scryptOfAnyCost } from "../../../src/adapters/keys/scrypt.ts";
import { Secret } from "../../../src/net/secret.ts";
import { ADDRESS, PBKDF2, SCRYPT } from "./published-vectors.ts";

const password = new Secret("testpassword");

const open = (file: unknown, secret = password) => openKeystore({ json: JSON.stringify(file), password: secret });

function withParameters<T extends typeof SCRYPT | typeof PBKDF2>(file: T, kdfparams: object): unknown {
  return { ...file, crypto: { ...file.crypto, kdfparams: { ...file.crypto.kdfparams, ...kdfparams } } };
}

test("the published vector of pbkdf2 opens, as an old wallet writes it too", async () => {
  expect((await open(PBKDF2)).address).toBe(ADDRESS);
  await expect(open(PBKDF2, new Secret("Testpassword"))).rejects.toMatchObject({ code: "wrong password" });
  const { crypto, ...rest } = PBKDF2;
  expect((await open({ ...rest, Crypto: crypto, address: ADDRESS.toUpperCase().replace("0X", "") })).address).toBe(
    ADDRESS,
  );
});

test("our own scrypt gives what the system's gives", async () => {
  const [secret, salt] = [Buffer.from("pleaseletmein"), Buffer.from("SodiumChloride")];
  for (const cost of [
    { N: 2, r: 1, p: 1 },
    { N: 64, r: 1, p: 3 },
    { N: 128, r: 3, p: 2 },
    { N: 256, r: 8, p: 2 },
  ]) {
    const expected = scryptSync(secret, salt, 32, cost);
    expect(await scryptOfAnyCost(secret, salt, cost)).toEqual(expected);
    expect(await scrypt(secret, salt, cost)).toEqual(expected);
  }
  const beyond = { N: 65_536, r: 1, p: 1 };
  expect(() => scryptSync(secret, salt, 32, beyond)).toThrow(/Invalid scrypt params/);
  expect(await scrypt(secret, salt, beyond)).toEqual(await scryptOfAnyCost(secret, salt, beyond));
});

test.each([
  ["pbkdf2 without end", withParameters(PBKDF2, { c: 2 ** 31 }), "pbkdf2 with c=2147483648, at most 10000000"],
  ["scrypt of much memory", withParameters(SCRYPT, { n: 2 ** 24, r: 8, p: 1 }), "scrypt with n=16777216, r=8, p=1"],
  ["scrypt of much work", withParameters(SCRYPT, { n: 2 ** 18, r: 8, p: 1_024 }), "scrypt with n=262144, r=8, p=1024"],
])("%s is refused at once", async (_what, file, words) => {
  await expect(open(file)).rejects.toMatchObject({ code: "too costly", message: expect.stringContaining(words) });
});

test.each([
  ["no scrypt cost", withParameters(SCRYPT, { n: 1_000 }), "no power of two"],
  ["another version", { ...SCRYPT, version: 1 }, "not an encrypted Web3 keystore"],
  ["another cipher", { ...SCRYPT, crypto: { ...SCRYPT.crypto, cipher: "aes-128-cbc" } }, "at crypto.cipher"],
  ["a short ciphertext", { ...SCRYPT, crypto: { ...SCRYPT.crypto, ciphertext: "d172" } }, "at crypto.ciphertext"],
  ["no check", { ...SCRYPT, crypto: { ...SCRYPT.crypto, mac: undefined } }, "at crypto.mac"],
  ["another address", { ...PBKDF2, address: "ff".repeat(20) }, `holds the key of ${ADDRESS}`],
  ["null", null, "not an encrypted Web3 keystore"],
])("%s is answered with what is wrong", async (_what, file, words) => {
  const error = await open(file).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "not a keystore", message: expect.stringContaining(words) });
  expect(String(error)).not.toMatch(/d172bf|testpassword/);
});

/** As geth, eth-account and web3.js write it: the key comes of the password's own bytes. */
function writtenOver(password: string): string {
  const { ciphertext, cipherparams } = PBKDF2.crypto;
  const [salt, iv] = [Buffer.alloc(32, 7), Buffer.from(cipherparams.iv, "hex")];
  const derived = pbkdf2Sync(Buffer.from(password, "utf8"), salt, 2, 32, "sha256");
  const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
  const sealed = Buffer.concat([cipher.update(Buffer.alloc(ciphertext.length / 2, 1)), cipher.final()]);
  const mac = keccak256(Buffer.concat([derived.subarray(16), sealed])).slice(2);
  const kdfparams = { c: 2, dklen: 32, prf: "hmac-sha256", salt: salt.toString("hex") };
  const crypto = { ...PBKDF2.crypto, ciphertext: sealed.toString("hex"), kdfparams, mac };
  return JSON.stringify({ ...PBKDF2, address: undefined, crypto });
}

test.each(["10\u00b5F", "m\u00b2", "a\u2026b", "\u2167", "Gro\u0308\u00dfe"])(
  "the password %s opens a keystore that was written over its own bytes, and one over what it is normalised to",
  async (typed) => {
    const key = `0x${"01".repeat(32)}`;
    expect(await decryptKeystore(writtenOver(typed), typed)).toBe(key);
    expect(await decryptKeystore(writtenOver(typed.normalize("NFKC")), typed)).toBe(key);
    const wrong = decryptKeystore(writtenOver(typed), `${typed} `);
    await expect(wrong).rejects.toMatchObject({ code: "wrong password" });
  },
);

test("a keystore says its address in clear, or nothing", () => {
  expect(statedAddress(JSON.stringify(SCRYPT))).toBeUndefined();
  expect(statedAddress(JSON.stringify({ ...SCRYPT, address: ADDRESS }))).toBe(ADDRESS);
  expect(statedAddress(JSON.stringify({ ...SCRYPT, address: ADDRESS.slice(2).toUpperCase() }))).toBe(ADDRESS);
});
