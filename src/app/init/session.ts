import type { LoadOutcome } from "../../config/load-configuration.ts";
import type { Problem } from "../../config/problem.ts";
import { NETWORKS } from "../../networks/book.ts";
import type { BookedNetwork } from "../../networks/network.ts";
import { loadConfiguration } from "../load-configuration.ts";
import type { Runtime } from "../runtime.ts";
import { type Answers, type Key, NONE, pathIn, RPC_VARIABLE, readRpc, readWallet } from "./answers.ts";
import { draftFiles, isDollar, type Layout, MAIN_FILE, POLICY_FILE, strategyFileName } from "./files.ts";
import { type Texts, withOverlay } from "./overlay.ts";
import type { Present } from "./present.ts";

/** What is known while somebody answers. */
export interface Session {
  readonly folder: string;
  readonly layout: Layout;
  readonly runtime: Runtime;
  /** nothing is asked of a chain */
  readonly isOffline: boolean;
  /** what the folder has already; undefined: no configuration */
  readonly present: Present | undefined;
  /** what was answered and is in order */
  readonly answers: Map<Key, string>;
  /** files of secrets that were typed: their texts are written at the end */
  readonly secrets: Map<string, string>;
  /** what neither a flag nor the configuration that is there says: it stays out of its files */
  readonly unsaid: Set<Key>;
  /** what one slot is worth in dollars (1e-18), once it is known */
  slotUsd: bigint | undefined;
}

/** An answer that is in order, with what is good to know of it; or a sentence with what is wrong and what to do. */
export type Verdict = { readonly value: string; readonly says: readonly string[] } | { readonly problem: string };

/** An account that nobody has, where a draft is judged before there is a wallet. */
export const NOBODY = "0x000000000000000000000000000000000000dEaD";

export function networkOf({ answers }: Session): BookedNetwork | undefined {
  return NETWORKS.get(answers.get("network") ?? "");
}

/** Tokens of the network that a feed prices: others are not traded. */
export function pricedTokens(network: Pick<BookedNetwork, "tokens">): readonly string[] {
  return [...network.tokens].filter(([, { feed }]) => feed !== undefined).map(([symbol]) => symbol);
}

const NATIVE_DECIMALS = 18;

export function decimalsOf(session: Session, symbol: string): number {
  return networkOf(session)?.tokens.get(symbol)?.decimals ?? NATIVE_DECIMALS;
}

/** What was answered, with something harmless for the rest. */
export function draftAnswers(session: Session, more: Partial<Answers> = {}): Answers {
  const { answers } = session;
  const name = answers.get("network") ?? "base";
  const tokens = pricedTokens(NETWORKS.get(name) ?? [...NETWORKS.values()][0] ?? raise());
  const sold = tokens.find(isDollar) ?? tokens[0] ?? "";
  const harmless: Answers = {
    network: name,
    rpc: `env:${RPC_VARIABLE}`,
    sell: `100 ${sold}`,
    buy: tokens.find((symbol) => symbol !== (answers.get("sell") ?? sold).split(" ").at(-1)) ?? "",
    at: "Mon 09:00",
    timezone: "UTC",
    total: NONE,
    maxPerDay: "500 USD",
    maxPerMonth: "10000 USD",
    wallet: NOBODY,
  };
  return { ...harmless, ...Object.fromEntries(answers), ...more };
}

function raise(): never {
  throw new Error("the book has no network");
}

/** The files that answers come to, of a new configuration, with what was typed of secrets. */
function draftTexts(session: Session, answers: Answers): Texts {
  // What was typed stands beside the draft alone, until everything is written.
  const rpc = (readRpc(answers.rpc) ?? []).map((one) =>
    "file" in one && !session.secrets.has(one.file) ? { file: pathIn(session.folder, one.file) } : one,
  );
  const text = rpc
    .map((one) => ("env" in one ? `env:${one.env}` : "file" in one ? `file:${one.file}` : one.url))
    .join(",");
  const wallet = readWallet(answers.wallet);
  const isThere = wallet?.kind === "keystore" && !wallet.isNew;
  const judged = {
    ...answers,
    rpc: text,
    wallet:
      wallet?.kind === "watch" || wallet?.kind === "paper" || wallet?.kind === "signer"
        ? answers.wallet
        : isThere
          ? `keystore ${pathIn(session.folder, wallet.keystore)}`
          : NOBODY,
  };
  const files = draftFiles(judged, { layout: session.layout, maxTrade: answers.maxPerDay });
  return new Map([...files, ...session.secrets]);
}

/** Judges the draft of the answers so far, with one of them in question. */
export async function withDraft<T>(
  session: Session,
  more: Partial<Answers>,
  work: (loaded: LoadOutcome, answers: Answers) => Promise<T>,
): Promise<T> {
  const answers = draftAnswers(session, more);
  const texts = draftTexts(session, answers);
  // Of what is there already nothing matters to an answer but the secrets that it may name, which are absolute.
  return await withOverlay(undefined, texts, async (scratch) => {
    const loaded = loadConfiguration(`${scratch}/${MAIN_FILE}`, session.runtime.env);
    return await work(withoutScratch(loaded, scratch), answers);
  });
}

function withoutScratch(loaded: LoadOutcome, scratch: string): LoadOutcome {
  if (loaded.ok) return loaded;
  const problems = loaded.problems.map((one) => ({ ...one, file: one.file.replace(`${scratch}/`, "") }));
  return { ok: false, problems };
}

/** Where an answer stands in the files. */
function placeOf(key: Key, answers: Answers): { readonly file: string; readonly path: RegExp } {
  const strategy = strategyFileName(answers);
  const places: Readonly<Record<Key, { file: string; path: RegExp }>> = {
    network: { file: MAIN_FILE, path: /^network\.name/ },
    rpc: { file: MAIN_FILE, path: /^network\.rpc/ },
    sell: { file: strategy, path: /^sell/ },
    buy: { file: strategy, path: /^buy/ },
    at: { file: strategy, path: /^schedule(?!\.timezone)/ },
    timezone: { file: strategy, path: /^schedule\.timezone/ },
    total: { file: strategy, path: /^budget/ },
    maxPerDay: { file: POLICY_FILE, path: /^max_(?:per_day|trade)/ },
    maxPerMonth: { file: POLICY_FILE, path: /^max_per_month/ },
    wallet: { file: MAIN_FILE, path: /^wallets/ },
  };
  return places[key];
}

/** What the loader says of one answer; undefined where it takes it. */
export function problemWith(key: Key, answers: Answers, loaded: LoadOutcome): string | undefined {
  if (loaded.ok) return undefined;
  const { file, path } = placeOf(key, answers);
  const found = loaded.problems.filter((one) => one.file.endsWith(file) && path.test(one.path));
  return found.length === 0 ? undefined : [...new Set(found.map(sentence))].join("\n");
}

function sentence({ message, suggestion }: Problem): string {
  return suggestion === undefined ? message : `${message} -> ${suggestion}`;
}
