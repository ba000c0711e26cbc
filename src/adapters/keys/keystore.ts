import { randomBytes } from "node:crypto";
import { decryptKeystoreJson, encryptKeystoreJson, isKeystoreJson, SigningKey } from "ethers";
import { Secret } from "../../net/secret.ts";
import type { Signer } from "../../ports/signer.ts";
import { KeyError } from "./key-error.ts";
import { addressOfKey, readPrivateKey } from "./private-key.ts";
import { createSigner } from "./signer.ts";

/** Cost of the scrypt function of new keystores (2^17, as wallets use); about a second of work for each guess. */
const SCRYPT_COST = 131_072;

/**
 * Opens an encrypted Web3 keystore (version 3 JSON). Takes about a second: the file is made slow to guess.
 * @throws KeyError when the text is no keystore or the password does not open it
 */
export async function openKeystore(options: { json: string; password: Secret }): Promise<Signer> {
  if (!isKeystoreJson(options.json)) {
    throw new KeyError("not a keystore", "the keystore file is not an encrypted Web3 keystore (version 3 JSON)");
  }
  const key = await decrypt(options.json, options.password);
  return createSigner(key);
}

async function decrypt(json: string, password: Secret): Promise<Secret> {
  try {
    const account = await decryptKeystoreJson(json, password.reveal());
    return new Secret(account.privateKey);
  } catch (error) {
    // The library's error is dropped on purpose: it can contain the password or parts of the keystore.
    const words = error instanceof Error ? error.message : "";
    if (words.includes("incorrect password")) {
      throw new KeyError("wrong password", "the password does not open the keystore");
    }
    throw new KeyError("not a keystore", "the keystore file is damaged or of an unsupported kind");
  }
}

/**
 * Encrypts a private key as a keystore file's text.
 * @throws KeyError when the key is none or the password is empty
 */
export async function writeKeystore(options: { privateKey: Secret; password: Secret }): Promise<string> {
  if (options.password.reveal() === "") {
    throw new KeyError("empty password", "a keystore needs a password that is not empty");
  }
  const privateKey = readPrivateKey(options.privateKey);
  const address = addressOfKey(new SigningKey(privateKey));
  return encryptKeystoreJson({ address, privateKey }, options.password.reveal(), { scrypt: { N: SCRYPT_COST } });
}

/** A new private key from the system's randomness. */
export function generatePrivateKey(): Secret {
  for (;;) {
    const candidate = new Secret(`0x${randomBytes(32).toString("hex")}`);
    if (isUsable(candidate)) return candidate;
  }
}

function isUsable(candidate: Secret): boolean {
  try {
    readPrivateKey(candidate);
    return true;
  } catch (error) {
    if (error instanceof KeyError) return false;
    throw error;
  }
}
