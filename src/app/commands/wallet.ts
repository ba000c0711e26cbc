import { existsSync } from "node:fs";
import { getAddress } from "ethers";
import { generatePrivateKey, openKeystore, writeKeystore } from "../../adapters/keys/keystore.ts";
import { statedAddress } from "../../adapters/keys/keystore-file.ts";
import { FIRST_ACCOUNT, isMnemonic, keyOfMnemonic } from "../../adapters/keys/mnemonic.ts";
import { createSigner } from "../../adapters/keys/signer.ts";
import { readTextFile } from "../../config/files.ts";
import type { Address } from "../../domain/money/address.ts";
import { codeOf } from "../../net/error-code.ts";
import { Secret } from "../../net/secret.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { namingKey } from "../key-failure.ts";
import { PRIVATE_FILE_MODE, writeNewFile } from "../new-file.ts";
import type { Terminal } from "../terminal.ts";

export interface WalletOptions {
  readonly keystore: string;
  readonly passwordFile: string;
}

export interface ImportOptions extends WalletOptions {
  readonly keyFile: string;
  /** of a mnemonic: which of its accounts */
  readonly path?: string;
}

/** `swapd wallet new`: makes a key, writes it encrypted, prints its address. The key itself is never shown. */
export async function newWallet(options: WalletOptions, terminal: Terminal): Promise<void> {
  await save(generatePrivateKey(), options, terminal);
  const copy = "on another machine or on paper, before you fund it; who has both has the money";
  terminal.err(`${options.keystore} is the only copy of the key: keep a copy of it and of its password, ${copy}`);
}

/** `swapd wallet import`: reads a private key or a mnemonic from a file and writes the key encrypted. */
export async function importWallet(options: ImportOptions, terminal: Terminal): Promise<void> {
  const { keyFile, keystore } = options;
  const key = await readKey(options);
  await save(key, options, terminal);
  terminal.err(
    `the key is in ${keystore} now; if the address is the one that you expect, delete ${keyFile}, and keep a copy of the keystore and of its password elsewhere`,
  );
}

async function readKey({ keyFile, path }: ImportOptions): Promise<Secret> {
  const text = new Secret(readText(keyFile, "the key"));
  if (isMnemonic(text.reveal())) {
    return await usable(keyFile, () => keyOfMnemonic({ words: text, path: path ?? FIRST_ACCOUNT }));
  }
  if (path !== undefined) {
    throw new CommandFailure(EXIT.usage, `--path chooses an account of a mnemonic, and ${keyFile} holds none`);
  }
  await usable(keyFile, () => createSigner(text));
  return text;
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
    const address = await usable(keystore, () => statedAddress(json));
    if (address !== undefined) return terminal.out(getAddress(address));
    throw new CommandFailure(EXIT.usage, `${keystore} does not state its address: give --password-file to open it`);
  }
  const password = new Secret(withoutLineBreak(readText(passwordFile, "the password")));
  const place = `${keystore}, with the password in ${passwordFile}${password.reveal() === "" ? ", which is empty" : ""}`;
  const signer = await usable(place, () => openKeystore({ json, password }));
  if (password.reveal() === "") {
    terminal.err(
      `warning: an empty password opens ${keystore}, so anyone who reads the file has the key; swapd start refuses it`,
    );
  }
  terminal.out(getAddress(signer.address));
}

/** What was typed names a key that cannot be used: the answer is no. */
async function usable<T>(place: string, work: () => T | Promise<T>): Promise<T> {
  return await namingKey(place, work, EXIT.no);
}

async function save(privateKey: Secret, options: WalletOptions, terminal: Terminal): Promise<void> {
  terminal.out(getAddress(await saveKeystore(privateKey, options)));
}

/**
 * Writes a key as an encrypted keystore, never over a file that is there: it may be the only copy of another key.
 * @returns whose it is
 */
async function saveKeystore(privateKey: Secret, { keystore, passwordFile }: WalletOptions): Promise<Address> {
  if (existsSync(keystore)) throw isThere(keystore);
  const { address } = createSigner(privateKey);
  const advice = "name the right file; the password of a new key is written there first";
  const password = new Secret(withoutLineBreak(readText(passwordFile, "the password", advice)));
  const text = await usable(passwordFile, () => writeKeystore({ privateKey, password }));
  try {
    writeNewFile(keystore, `${text}\n`, PRIVATE_FILE_MODE);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") throw isThere(keystore);
    if (!(error instanceof Error && "syscall" in error)) throw error;
    const why = code === "ENOENT" ? "its folder does not exist: make it first" : `${code}: name another place`;
    throw new CommandFailure(EXIT.no, `the keystore ${keystore} cannot be written: ${why}`);
  }
  return address;
}

function isThere(keystore: string): CommandFailure {
  return new CommandFailure(EXIT.no, `${keystore} exists already and is left as it is; name another file`);
}

function withoutLineBreak(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function readText(file: string, what: string, advice = "name the right file"): string {
  const read = readTextFile(file);
  if ("text" in read) return read.text;
  throw new CommandFailure(EXIT.usage, `${what} is to be read from ${file}, which ${read.problem}: ${advice}`);
}
