import type { Book } from "./book.ts";
import { flatRecords } from "./records.ts";

/** What controls something where the line is shown, direction marks among them. */
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** One JSON document a line, amounts as text. */
export function jsonLines(book: Book): readonly string[] {
  return flatRecords(book).map((record) => JSON.stringify(record).replaceAll(CONTROLS, escaped));
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16);
    return `\\u${unit.padStart(4, "0")}`;
  }).join("");
}
