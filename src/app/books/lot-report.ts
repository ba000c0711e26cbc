import type { Asset } from "../../domain/books/entry.ts";
import type { Holding, Realised } from "../../domain/books/lot-sums.ts";
import type { Disposal, LotBook, LotMethod } from "../../domain/books/lots.ts";
import type { Books } from "./read-books.ts";

/** What lots and results are shown from. */
export interface LotReport {
  readonly books: Books;
  readonly method: LotMethod;
  readonly lots: LotBook;
  readonly holdings: readonly Holding[];
  /** of the time that was asked for */
  readonly disposals: readonly Disposal[];
  readonly realised: readonly Realised[];
  nameOf(asset: Asset): string;
}
