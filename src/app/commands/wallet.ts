import { readFileSync, writeFileSync } from "node:fs";
import { generatePrivateKey, openKeystore, writeKeystore } from "../../adapters/keys/keystore.ts";
import { createSigner } from "../../adapters/keys/signer.ts";
import { Secret } from "../../net/secret.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";

export interface WalletOptions {
  readonly keystore: string;
  readonly passwordFile: string;
}

/** Only its owner may read a key. */
const PRIVATE_FILE_MODE = 0o600;

/** `swapd wallet new`: makes a key, writes it encrypted, prints its address. The key itself is never shown. */
export async function newWallet(options: WalletOptions, terminal: Terminal): Promise<void> {
  await save(generatePrivateKey(), options, terminal);
}

/** `swapd wallet import`: reads a private key from a file and writes it encrypted. */
export async function importWallet(options: WalletOptions & { keyFile: string }, terminal: Terminal): Promise<void> {
  await save(new Secret(readText(options.keyFile, "the private key")), options, terminal);
  terminal.err(`the key is in ${options.keystore} now; delete ${options.keyFile}`);
}

/** `swapd wallet address`: opens a keystore with its password and prints whose it is. */
export async function walletAddress(options: WalletOptions, terminal: Terminal): Promise<void> {
  const signer = await openKeystore({
    json: readText(options.keystore, "the keystore"),
    password: passwordOf(options),
  });
  terminal.out(signer.address);
}

async function save(privateKey: Secret, options: WalletOptions, terminal: Terminal): Promise<void> {
  const { address } = createSigner(privateKey);
  const keystore = await writeKeystore({ privateKey, password: passwordOf(options) });
  try {
    // Never over a file that is there: it may be the only copy of another key.
    writeFileSync(options.keystore, `${keystore}\n`, { mode: PRIVATE_FILE_MODE, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new CommandFailure(EXIT.no, `${options.keystore} exists already and is left as it is; name another file`);
  }
  terminal.out(address);
}

function passwordOf(options: WalletOptions): Secret {
  return new Secret(readText(options.passwordFile, "the password").replace(/\r?\n$/, ""));
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new CommandFailure(EXIT.usage, `${what} cannot be read from ${file} (${reason})`);
  }
}
