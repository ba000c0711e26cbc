import { BEANCOUNT_WORDS, HLEDGER_WORDS, type NameRules, PLAIN_WORDS, TABLE_WORDS } from "./asset-names.ts";
import { beancount } from "./beancount.ts";
import type { Book } from "./book.ts";
import { cointracking } from "./cointracking.ts";
import { hledger } from "./hledger.ts";
import { jsonLines } from "./json-lines.ts";
import { koinly } from "./koinly.ts";
import { plainCsv } from "./plain-csv.ts";

/** How books are written for somebody. */
interface Format {
  write(book: Book): readonly string[];
  readonly names: NameRules;
  /** what it says cannot be told from real trades there: books of paper and of rehearsals are not written for it */
  readonly isForRealMoney: boolean;
  /** entries of it that it has no line for, in words */
  readonly leavesOut: string | undefined;
}

const HELD_BEFORE =
  "what the wallets held before, and what came in from elsewhere, is left out: enter it there with what it cost, or that program makes a cost up";

/** One line a format. */
export const FORMATS = {
  csv: { write: plainCsv, names: TABLE_WORDS, isForRealMoney: false, leavesOut: undefined },
  jsonl: { write: jsonLines, names: TABLE_WORDS, isForRealMoney: false, leavesOut: undefined },
  koinly: { write: koinly, names: PLAIN_WORDS, isForRealMoney: true, leavesOut: HELD_BEFORE },
  cointracking: { write: cointracking, names: PLAIN_WORDS, isForRealMoney: true, leavesOut: HELD_BEFORE },
  hledger: { write: hledger, names: HLEDGER_WORDS, isForRealMoney: false, leavesOut: undefined },
  beancount: { write: beancount, names: BEANCOUNT_WORDS, isForRealMoney: false, leavesOut: undefined },
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;
