import { closest } from "../closest.ts";

/** Three or four letters that are one zone of the IANA list, follow its summer time, and mean nothing else elsewhere. */
const KNOWN_LETTERS: ReadonlySet<string> = new Set([
  "UTC",
  "UCT",
  "GMT",
  "CET",
  "EET",
  "MET",
  "WET",
  "PRC",
  "ROC",
  "ROK",
]);

/** Letters of winter or summer time in everyday use. BST is Dhaka to some machines, EST Panama: none of them is taken. */
const LETTERS: Readonly<Record<string, string>> = {
  EST: "America/New_York",
  EDT: "America/New_York",
  CST: "America/Chicago",
  CDT: "America/Chicago",
  MST: "America/Denver",
  MDT: "America/Denver",
  PST: "America/Los_Angeles",
  PDT: "America/Los_Angeles",
  BST: "Europe/London",
  WEST: "Europe/Lisbon",
  CEST: "Europe/Berlin",
  MEZ: "Europe/Berlin",
  MESZ: "Europe/Berlin",
  EEST: "Europe/Athens",
  MSK: "Europe/Moscow",
  IST: "Asia/Kolkata",
  SGT: "Asia/Singapore",
  HKT: "Asia/Hong_Kong",
  JST: "Asia/Tokyo",
  KST: "Asia/Seoul",
  AEST: "Australia/Sydney",
  AEDT: "Australia/Sydney",
};

const OFFSET = /^(?:(?:UTC|GMT|Etc\/GMT)\s*)?[+-]\s*[0-9]{1,2}(?::?[0-9]{2})?$/i;

const knownZones = new Map<string, boolean>();

/**
 * Whether a name stands for the wall clock of one place, summer time included. Fixed offsets (+02:00, Etc/GMT-2) and
 * ambiguous letters (EST, BST) are refused although Intl takes them: an hour is lost with them twice a year, or more.
 */
export function isTimeZone(name: string): boolean {
  const known = knownZones.get(name);
  if (known !== undefined) return known;
  const right = !OFFSET.test(name) && (!/^[A-Z]{3,4}$/i.test(name) || KNOWN_LETTERS.has(name)) && isKnownToIntl(name);
  if (knownZones.size < 1_000) knownZones.set(name, right);
  return right;
}

function isKnownToIntl(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** What is wrong with a time zone, and which one is probably meant. */
export function describeTimeZone(name: string): { readonly message: string; readonly suggestion: string } {
  const form = "write an IANA name such as Europe/Berlin, or UTC";
  if (OFFSET.test(name))
    return { message: `"${name}" is a fixed offset, which follows no summer time`, suggestion: form };
  const place = LETTERS[name.toUpperCase()];
  if (place !== undefined) {
    const message = `"${name}" names a half of the year or several places, not one time zone`;
    return { message, suggestion: `did you mean "${place}"? It follows summer time where there is one` };
  }
  const zones = Intl.supportedValuesOf("timeZone");
  const city = name.replaceAll(" ", "_").toLowerCase();
  const meant = zones.find((zone) => zone.toLowerCase().endsWith(`/${city}`)) ?? closest(name, zones);
  const message = `"${name}" is no time zone that this machine knows`;
  return { message, suggestion: meant === undefined ? form : `did you mean "${meant}"?` };
}
