import { dirname, isAbsolute, join } from "node:path";

/** What a first configuration is made of, in the order of the questions. */
export const KEYS = [
  "network",
  "rpc",
  "sell",
  "buy",
  "at",
  "timezone",
  "total",
  "maxPerDay",
  "maxPerMonth",
  "wallet",
] as const;
export type Key = (typeof KEYS)[number];

/** Answers as a person writes them: the loader judges what they come to. */
export type Answers = Readonly<Record<Key, string>>;

/** An answer that means: none. */
export const NONE = "none";

/** The environment variable of an RPC URL where nothing else is said. */
export const RPC_VARIABLE = "RPC_1";

/** The wallet that an answer means. */
export type WalletAnswer =
  | { readonly kind: "keystore"; readonly keystore: string; readonly isNew: boolean }
  | { readonly kind: "import"; readonly keyFile: string }
  | { readonly kind: "watch"; readonly address: string }
  | SignerAnswer
  | { readonly kind: "paper"; readonly amounts: readonly TokenAmount[] };

/** A wallet whose key is in a keystore, or gets into one. */
export type KeyAnswer = Extract<WalletAnswer, { kind: "keystore" | "import" }>;

/** A key with a signer elsewhere; without an address its only account is meant. */
export interface SignerAnswer {
  readonly kind: "signer";
  readonly url: string;
  readonly address: string | undefined;
}

/** An amount of a token, as a person writes it. */
export interface TokenAmount {
  readonly amount: string;
  readonly token: string;
}

/** Files of a wallet that init makes, from the configuration's folder. */
export const WALLET_FILES = { keystore: "wallet.json", password: "wallet.pass" } as const;

/** Reads `paper AMOUNTS`, `new`, `import FILE`, `keystore FILE`, `signer URL ADDRESS` or an address; else undefined. */
export function readWallet(answer: string): WalletAnswer | undefined {
  const [word = "", ...rest] = answer.trim().split(/\s+/);
  const file = rest.join(" ");
  if (word === "paper") return readPaper(file);
  if (word === "signer") return readSigner(rest);
  if (/^0x/i.test(word)) return { kind: "watch", address: word };
  if (word === "new" && file === "") return { kind: "keystore", keystore: WALLET_FILES.keystore, isNew: true };
  if (word === "keystore" && file !== "") return { kind: "keystore", keystore: file, isNew: false };
  return word === "import" && file !== "" ? { kind: "import", keyFile: file } : undefined;
}

function readSigner([url, address, ...rest]: readonly string[]): SignerAnswer | undefined {
  return url === undefined || rest.length > 0 ? undefined : { kind: "signer", url, address };
}

/** Reads `5000 USDC, 0.5 WETH`. */
function readPaper(text: string): WalletAnswer | undefined {
  const amounts = text.split(",").map((part) => readSold(part));
  const known = amounts.filter((one) => one !== undefined);
  return known.length === amounts.length ? { kind: "paper", amounts: known } : undefined;
}

/** As it is answered. */
export function paperAnswer(amounts: readonly TokenAmount[]): string {
  return `paper ${amounts.map(({ amount, token }) => `${amount} ${token}`).join(", ")}`;
}

/** Where the password of a keystore is kept. */
export function passwordFileOf(keystore: string): string {
  return keystore === WALLET_FILES.keystore
    ? WALLET_FILES.password
    : join(dirname(keystore), `${keystore.slice(keystore.lastIndexOf("/") + 1).replace(/\.json$/, "")}.pass`);
}

/** Where an answer says that an RPC URL is found. */
export type RpcAnswer = { readonly env: string } | { readonly file: string } | { readonly url: string };

/** Reads `env:RPC_1, file:rpc.url`; plain URLs are such. */
export function readRpc(answer: string): readonly RpcAnswer[] | undefined {
  const read = answer
    .split(/[,\s]+/)
    .filter((part) => part !== "")
    .map((part): RpcAnswer | undefined => {
      const [, kind, name = ""] = /^(env|file):(.+)$/.exec(part) ?? [];
      if (kind !== undefined) return kind === "env" ? { env: name } : { file: name };
      return /^https?:\/\//.test(part) ? { url: part } : undefined;
    });
  const known = read.filter((one) => one !== undefined);
  return known.length > 0 && known.length === read.length ? known : undefined;
}

/** Whether a URL is an origin alone: what follows the host, or stands before it, is usually a key. */
export function isOrigin(url: string): boolean {
  return /^https?:\/\/[^/?#@\s]+\/?$/.test(url);
}

/** Amount and token of `100 USDC`; undefined where there are not both. */
export function readSold(answer: string): TokenAmount | undefined {
  const [, amount, apart, joined] = /^([0-9][0-9._,]*)(?:\s+(\S.*)|([A-Za-z]\S*))$/.exec(answer.trim()) ?? [];
  const token = (apart ?? joined)?.trim();
  return amount === undefined || token === undefined ? undefined : { amount, token };
}

/** What an answer to "when" becomes in a strategy. */
export function scheduleKey(at: string): "every" | "cron" | "at" {
  if (/^every\s+/i.test(at)) return "every";
  return at.trim().split(/\s+/).length === 5 && /^[-0-9*/,]+\s/.test(at.trim()) ? "cron" : "at";
}

/** Whether a schedule goes by a wall clock, so that its zone matters. */
export function hasZone(at: string): boolean {
  return scheduleKey(at) !== "every";
}

/** A path from the configuration's folder, made absolute. */
export function pathIn(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}
