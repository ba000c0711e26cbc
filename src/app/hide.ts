import type { ChannelConfiguration } from "../config/configuration.ts";

/** An address, a hash, or what else is written like one. */
const ADDRESS = /0x[0-9a-fA-F]{8,}/g;

/** A number: its sign and its currency, digits grouped or not, an exponent. */
const NUMBER = String.raw`[-+\u2212]?\p{Nd}(?:[\p{Nd}.,_'\u2019\u00a0\u202f]*\p{Nd})?(?:[eE][-+]?\p{Nd}+)?`;

/** What has digits and says how far, when, where or who, and not how much. */
const NO_AMOUNT = [
  String.raw`\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?`,
  String.raw`\d{1,2}:\d{2}(?::\d{2})?(?![\d:])`,
  // An address of a machine; digits in groups of three are an amount.
  String.raw`(?!\d{1,3}(?:\.\d{3}){3}(?!\d))\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![.\d])`,
  String.raw`(?:localhost|[\p{L}\d][\p{L}\d-]*(?:\.[\p{L}\d-]+)*\.\p{L}[\p{L}\d-]*):\d{1,5}(?![.\d])`,
  // Names and ids begin with a letter.
  String.raw`[\p{L}_][\p{L}\p{Nd}_]*(?:[-.][\p{L}\p{Nd}_]+)*`,
  String.raw`0x[\da-fA-F]+`,
  String.raw`(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+(?![\p{L}\p{Nd}])`,
  String.raw`${NUMBER}\s?(?:%|(?:bps?|pp)(?![\p{L}\p{Nd}]))`,
].join("|");

/** Either the one, which stays, or the other, which goes: rather too many go than one that is an amount. */
const KEPT_OR_AMOUNT = new RegExp(`(${NO_AMOUNT})|${NUMBER}`, "gu");

const MARK = "***";

/** The id of a fill tells its amounts: after a reorganisation the swap may have another one. */
const FILL_ID = /^(fill_.+)_\d+_\d+$/;

interface Told {
  readonly id: string;
  readonly text: string;
  readonly subject: string;
}

/**
 * What a channel is told that is not told everything.
 * @param number of the delivery: in an id it stands for the amounts, and is the same each time it is tried
 */
export function hidden({ id, text, subject }: Told, hides: ChannelConfiguration["hides"], number: number): Told {
  const shown = hides.includes("amounts") ? id.replace(FILL_ID, `$1_${number}`) : id;
  return { id: shown, text: hide(text, hides), subject: hide(subject, hides) };
}

function hide(text: string, hides: ChannelConfiguration["hides"]): string {
  const placed = hides.includes("addresses") ? text.replaceAll(ADDRESS, MARK) : text;
  if (!hides.includes("amounts")) return placed;
  return placed.replaceAll(KEPT_OR_AMOUNT, (_, kept: string | undefined) => kept ?? MARK);
}
