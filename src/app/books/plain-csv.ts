import type { Book } from "./book.ts";
import { csvLine } from "./csv-text.ts";
import { COLUMNS, flatRecords } from "./records.ts";

/** Our own table: every column of every entry. */
export function plainCsv(book: Book): readonly string[] {
  return [csvLine(COLUMNS), ...flatRecords(book).map((record) => csvLine(COLUMNS.map((name) => record[name] ?? "")))];
}
