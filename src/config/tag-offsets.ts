import { Lexer } from "yaml";

/** Stands before a word that is text, which may begin with an exclamation mark. */
const TEXT_FOLLOWS = "\u001f";

/** Where tags stand in a YAML text, by its words alone, whatever a parser makes of them. */
export function tagOffsets(text: string): readonly number[] {
  if (!text.includes("!")) return [];
  const offsets: number[] = [];
  let offset = 0;
  let before = "";
  for (const word of new Lexer().lex(text)) {
    const place = text.indexOf(word, offset);
    if (word.startsWith("!") && before !== TEXT_FOLLOWS) offsets.push(Math.max(place, offset));
    // Some words are marks of the lexer's own, which do not stand in the text.
    if (place >= 0) offset = place + word.length;
    before = word;
  }
  return offsets;
}
