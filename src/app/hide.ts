import type { ChannelConfiguration } from "../config/configuration.ts";

/** An address, a hash, or what else is written like one. */
const ADDRESS = /0x[0-9a-fA-F]{8,}/g;

/**
 * A number that stands alone, with or without its digits grouped. Days, times, shares and the ids of runs are none. Rather
 * too many go than one that is an amount.
 */
const AMOUNT = /(?<![\w.:/-])[0-9](?:[0-9.,_']*[0-9])?(?![\w:%/]|-[0-9]|[.,][0-9])/g;

const MARK = "***";

/** What a channel is told that is not told everything. */
export function hidden(
  { text, subject }: { readonly text: string; readonly subject: string },
  hides: ChannelConfiguration["hides"],
): { readonly text: string; readonly subject: string } {
  return { text: hide(text, hides), subject: hide(subject, hides) };
}

function hide(text: string, hides: ChannelConfiguration["hides"]): string {
  const placed = hides.includes("addresses") ? text.replaceAll(ADDRESS, MARK) : text;
  return hides.includes("amounts") ? placed.replaceAll(AMOUNT, MARK) : placed;
}
