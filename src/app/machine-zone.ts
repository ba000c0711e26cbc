/** What ICU calls a zone that it does not know. */
const UNKNOWN = "Etc/Unknown";

/**
 * The time zone of this machine, by its IANA name. UTC where it has no such name: `TZ` may be a path (`:/etc/localtime`),
 * an offset (`UTC+5`) or a name that nobody knows.
 */
export function machineZone(): string {
  const found: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return found === undefined || found === UNKNOWN ? "UTC" : found;
}
