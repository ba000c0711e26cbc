import { randomBytes } from "node:crypto";
import { Secret } from "../../net/secret.ts";
import type { Signer } from "../../ports/signer.ts";
import { KeyError } from "./key-error.ts";
import { decryptKeystore, encryptKeystore, statedAddress } from "./keystore-file.ts";
import { addressOfKey, readPrivateKey } from "./private-key.ts";
import { createSigner } from "./signer.ts";

/**
 * Opens an encrypted Web3 keystore (version 3 JSON). Takes about a second: the file is made slow to guess.
 * @throws KeyError when the text is no keystore, the password does not open it, or it is of another account than it states
 */
export async function openKeystore(options: { json: string; password: Secret }): Promise<Signer> {
  const key = await decryptKeystore(options.json, options.password.reveal());
  const signer = createSigner(new Secret(key));
  const stated = statedAddress(options.json);
  if (stated !== undefined && stated !== signer.address) {
    const message = `the keystore states the address ${stated} and holds the key of ${signer.address}`;
    throw new KeyError("not a keystore", message);
  }
  return signer;
}

/**
 * Encrypts a private key as a keystore file's text.
 * @throws KeyError when the key is none or the password is empty
 */
export async function writeKeystore(options: { privateKey: Secret; password: Secret }): Promise<string> {
  if (options.password.reveal() === "") {
    throw new KeyError("empty password", "a keystore needs a password that is not empty: write one into the file");
  }
  const key = readPrivateKey(options.privateKey);
  return await encryptKeystore({ key, address: addressOfKey(key) }, options.password.reveal());
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
