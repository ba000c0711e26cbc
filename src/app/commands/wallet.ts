import { readFileSync, writeFileSync } from "node:fs";
import { getAddress } from "ethers";
import { generatePrivateKey, openKeystore, writeKeystore } from "../../adapters/keys/keystore.ts";
import { statedAddress } from "../../adapters/keys/keystore-file.ts";
import { createSigner } from "../../adapters/keys/signer.ts";
import { Secret } from "../../net/secret.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { namingKey } from "../key-failure.ts";
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
  terminal.err(`${options.keystore} is the only copy of the key: keep a copy of it, and of its password, elsewhere`);
}

/** `swapd wallet import`: reads a private key from a file and writes it encrypted. */
export async function importWallet(options: WalletOptions & { keyFile: string }, terminal: Terminal): Promise<void> {
  const key = new Secret(readText(options.keyFile, "the private key"));
  await namingKey(options.keyFile, () => createSigner(key));
  await save(key, options, terminal);
  terminal.err(`the key is in ${options.keystore} now; delete ${options.keyFile}`);
}

/**
 * `swapd wallet address`: prints whose a keystore is: as it states, or, where a password is given, as its key says.
 */
export async function walletAddress(
  options: { keystore: string; passwordFile?: string },
  terminal: Terminal,
): Promise<void> {
  const { keystore, passwordFile } = options;
  const json = readText(keystore, "the keystore");
  if (passwordFile === undefined) {
    const address = await namingKey(keystore, () => statedAddress(json));
    if (address !== undefined) return terminal.out(getAddress(address));
    throw new CommandFailure(EXIT.usage, `${keystore} does not state its address: give --password-file to open it`);
  }
  const password = new Secret(withoutLineBreak(readText(passwordFile, "the password")));
  const signer = await namingKey(`${keystore}, with the password in ${passwordFile}`, () =>
    openKeystore({ json, password }),
  );
  if (password.reveal() === "") {
    terminal.err(
      `warning: an empty password opens ${keystore}, so anyone who reads the file has the key; swapd start refuses it`,
    );
  }
  terminal.out(getAddress(signer.address));
}

async function save(privateKey: Secret, options: WalletOptions, terminal: Terminal): Promise<void> {
  const { address } = createSigner(privateKey);
  const { passwordFile } = options;
  const password = new Secret(withoutLineBreak(readText(passwordFile, "the password")));
  const keystore = await namingKey(passwordFile, () => writeKeystore({ privateKey, password }));
  try {
    // Never over a file that is there: it may be the only copy of another key.
    writeFileSync(options.keystore, `${keystore}\n`, { mode: PRIVATE_FILE_MODE, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new CommandFailure(EXIT.no, `${options.keystore} exists already and is left as it is; name another file`);
  }
  terminal.out(getAddress(address));
}

function withoutLineBreak(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new CommandFailure(EXIT.usage, `${what} cannot be read from ${file} (${reason})`);
  }
}
