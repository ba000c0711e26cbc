/** What ends a line, what a terminal obeys, and what turns a text around. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** What a person wrote, as one line that looks the same wherever it is shown: on the page, in a terminal, in a message. */
export function oneLine(text: string): string {
  return text.replaceAll(UNSEEN, " ").trim();
}
