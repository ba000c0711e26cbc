import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { keccak256 } from "ethers";
import { z } from "zod";
import { type Address, parseAddress } from "../../domain/money/address.ts";
import { KeyError } from "./key-error.ts";
import { type ScryptCost, scrypt, scryptMemory } from "./scrypt.ts";

/** What a keystore may cost to open. The costliest that wallets write take 256 MiB, and a few seconds. */
const MOST_ROUNDS = 10_000_000;
const MOST_MEMORY = 1_073_741_824;
const MOST_SCRYPT_WORK = 33_554_432;

const positive = z.number().int().positive();
const hex = (least: number, most: number) =>
  z
    .string()
    .regex(/^(?:0x)?(?:[0-9a-fA-F]{2})*$/)
    .transform((text) => Buffer.from(text.replace(/^0x/, ""), "hex"))
    .refine(({ length }) => length >= least && length <= most);
const shared = { salt: hex(0, 1024), dklen: z.literal(32) };
const schema = z.object({
  version: z.literal(3),
  address: z.string().optional(),
  crypto: z.intersection(
    z.object({
      cipher: z.literal("aes-128-ctr"),
      cipherparams: z.object({ iv: hex(16, 16) }),
      ciphertext: hex(32, 32),
      mac: hex(32, 32),
    }),
    z.discriminatedUnion("kdf", [
      z.object({ kdf: z.literal("scrypt"), kdfparams: z.object({ ...shared, n: positive, r: positive, p: positive }) }),
      z.object({
        kdf: z.literal("pbkdf2"),
        kdfparams: z.object({ ...shared, c: positive, prf: z.literal("hmac-sha256") }),
      }),
    ]),
  ),
});
type KeystoreFile = z.infer<typeof schema>;

const deriveKey = promisify(pbkdf2);

/** Reads a keystore's text; keys in any case, as old wallets wrote them. @throws KeyError without any part of the text */
function readKeystore(json: string): KeystoreFile {
  const kind = stated(json);
  if (kind === undefined) {
    throw new KeyError("not a keystore", "the keystore file is not an encrypted Web3 keystore (version 3 JSON)");
  }
  const file = schema.safeParse(kind);
  if (file.success) return file.data;
  // what is wrong is named by its place alone: values may be parts of a key
  const place = file.error.issues[0]?.path.join(".") ?? "";
  throw new KeyError("not a keystore", `the keystore file is damaged or of an unsupported kind, at ${place}`);
}

/** The fields of a keystore with their names in lower case, undefined when it is none. */
function stated(json: string): Record<string, unknown> | undefined {
  try {
    const fields = JSON.parse(json, (_key, value: unknown) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toLowerCase(), inner]));
    }) as Record<string, unknown> | null;
    return fields !== null && typeof fields === "object" && fields.version === 3 ? fields : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The address that a keystore states in clear; undefined when it states none. Only opening it proves whose it is. */
export function statedAddress(json: string): Address | undefined {
  const { address } = readKeystore(json);
  return address === undefined ? undefined : parseAddress(address.startsWith("0x") ? address : `0x${address}`);
}

/**
 * Decrypts a keystore, by the password as Unicode normalises it (NFKC) or as it was typed: wallets do either.
 * @returns the key as `0x` and 64 digits
 * @throws KeyError when it is none, costs more than is done here, or the password does not open it
 */
export async function decryptKeystore(json: string, password: string): Promise<string> {
  const { crypto } = readKeystore(json);
  for (const written of new Set([password.normalize("NFKC"), password])) {
    const derived = await derive(crypto, Buffer.from(written, "utf8"));
    if (!timingSafeEqual(macOf(derived, crypto.ciphertext), crypto.mac)) continue;
    const decipher = createDecipheriv("aes-128-ctr", derived.subarray(0, 16), crypto.cipherparams.iv);
    return `0x${Buffer.concat([decipher.update(crypto.ciphertext), decipher.final()]).toString("hex")}`;
  }
  throw new KeyError("wrong password", "the password does not open the keystore: compare the two with your copies");
}

/** Cost of the scrypt function of new keystores (2^17, as wallets use); about a second of work for each guess. */
const COST: ScryptCost = { N: 131_072, r: 8, p: 1 };

/** Encrypts a private key with a password, as a keystore's text. @param key `0x` and 64 digits */
export async function encryptKeystore(
  { key, address }: { readonly key: string; readonly address: Address },
  password: string,
): Promise<string> {
  const [salt, iv] = [randomBytes(32), randomBytes(16)];
  const derived = await scrypt(Buffer.from(password.normalize("NFKC"), "utf8"), salt, COST);
  const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(key.slice(2), "hex")), cipher.final()]);
  const { N: n, r, p } = COST;
  return JSON.stringify({
    version: 3,
    id: randomUUID(),
    address: address.slice(2),
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: iv.toString("hex") },
      ciphertext: ciphertext.toString("hex"),
      kdf: "scrypt",
      kdfparams: { dklen: 32, n, r, p, salt: salt.toString("hex") },
      mac: macOf(derived, ciphertext).toString("hex"),
    },
  });
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return Buffer.from(keccak256(Buffer.concat([derived.subarray(16), ciphertext])).slice(2), "hex");
}

async function derive(crypto: KeystoreFile["crypto"], password: Buffer): Promise<Buffer> {
  if (crypto.kdf === "pbkdf2") {
    const { salt, c } = crypto.kdfparams;
    if (c > MOST_ROUNDS) throw tooCostly(`pbkdf2 with c=${c}, at most ${MOST_ROUNDS} is done here`);
    return await deriveKey(password, salt, c, 32, "sha256");
  }
  const { salt, n: N, r, p } = crypto.kdfparams;
  const cost: ScryptCost = { N, r, p };
  const asked = `scrypt with n=${N}, r=${r}, p=${p}`;
  if (N < 2 || !Number.isInteger(Math.log2(N))) {
    throw new KeyError("not a keystore", `the keystore asks for ${asked}, where n is no power of two: it is damaged`);
  }
  if (scryptMemory(cost) > MOST_MEMORY || N * r * p > MOST_SCRYPT_WORK) {
    throw tooCostly(`${asked}, at most 1 GiB of memory and n*r*p=${MOST_SCRYPT_WORK} are spent here`);
  }
  return await scrypt(password, salt, cost);
}

function tooCostly(asked: string): KeyError {
  const remedy = "export the key from the wallet that wrote it, then: swapd wallet import";
  return new KeyError("too costly", `the keystore asks for ${asked}: ${remedy}`);
}
