import { HDNodeWallet, Mnemonic, wordlists } from "ethers";
import { Secret } from "../../net/secret.ts";
import { KeyError } from "./key-error.ts";

/** Where wallets keep the first account of a mnemonic (BIP-44). */
export const FIRST_ACCOUNT = "m/44'/60'/0'/0/0";

const COUNTS: readonly number[] = [12, 15, 18, 21, 24];
/** Deeper paths are nobody's. */
const PATH_PATTERN = /^m(?:\/[0-9]{1,10}['hH]?){1,10}$/;
const MOST_INDEX = 2 ** 31;

/** Whether a text is meant as a mnemonic: several words of letters, and nothing else. */
export function isMnemonic(text: string): boolean {
  return /^\p{L}+(?:\s+\p{L}+){2,}$/u.test(text.trim());
}

/**
 * The private key that a mnemonic of English words (BIP-39) gives at a path (BIP-32), without a passphrase.
 * @throws KeyError that names words by their place alone
 */
export function keyOfMnemonic(options: { readonly words: Secret; readonly path: string }): Secret {
  const path = readPath(options.path);
  const words = options.words.reveal().normalize("NFKD").trim().toLowerCase().split(/\s+/);
  if (!COUNTS.includes(words.length)) {
    const found = `the mnemonic has ${words.length} words, and one has 12, 15, 18, 21 or 24`;
    throw new KeyError("not a mnemonic", `${found}: compare it with what you wrote down`);
  }
  const unknown = words.flatMap((word, index) => (isListed(word) ? [] : [index + 1]));
  if (unknown.length > 0) {
    const which = unknown.length === 1 ? `word ${unknown[0]} is` : `words ${unknown.join(", ")} are`;
    throw new KeyError("not a mnemonic", `${which} not in the English list of BIP-39: look for a mistyped letter`);
  }
  const phrase = words.join(" ");
  if (!Mnemonic.isValidMnemonic(phrase)) {
    const found =
      "all words are in the list, and their checksum is wrong: a word is another one, or two changed places";
    throw new KeyError("not a mnemonic", found);
  }
  return new Secret(HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(phrase), path).privateKey);
}

function isListed(word: string): boolean {
  return (wordlists.en?.getWordIndex(word) ?? -1) >= 0;
}

function readPath(path: string): string {
  const steps = path.split("/").slice(1);
  const isPath = PATH_PATTERN.test(path) && steps.every((step) => Number.parseInt(step, 10) < MOST_INDEX);
  if (isPath) return path.replaceAll(/[hH]/g, "'");
  const form = `write one such as ${FIRST_ACCOUNT}, of which the last number counts the accounts`;
  throw new KeyError("not a path", `${JSON.stringify(path)} is no path of an account: ${form}`);
}
