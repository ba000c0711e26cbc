import type { ChannelMessage } from "./channel-kind.ts";

/** What a message is about, in one line of letters that mean nothing to any receiver. */
export function titleOf({ code, network, ends }: Pick<ChannelMessage, "code" | "network" | "ends">): string {
  return `${code} on ${network}${ends === undefined ? "" : " is over"}`;
}

/** Its text, and below it when it was and by which id it is looked up; the text is cut to what a receiver takes. */
export function bodyOf(
  { text, atMs, id }: Pick<ChannelMessage, "text" | "atMs" | "id">,
  most: number,
  sizeOf: (text: string) => number = lengthOf,
): string {
  const end = `\n\n${new Date(atMs).toISOString()}, ${id}`;
  return `${cutTo(text, most - sizeOf(end), sizeOf)}${end}`;
}

/** As much of a text as has at most this size, in whole characters. */
function cutTo(text: string, most: number, sizeOf: (character: string) => number = lengthOf): string {
  let [size, end] = [0, 0];
  for (const character of text) {
    size += sizeOf(character);
    if (size > most) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

function lengthOf({ length }: string): number {
  return length;
}
