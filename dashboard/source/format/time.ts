const UNITS = [
  { name: "d", seconds: 86_400 },
  { name: "h", seconds: 3_600 },
  { name: "min", seconds: 60 },
  { name: "s", seconds: 1 },
] as const;

/** A length of time in its two largest units: `2 d 3 h`, `45 s`. */
export function span(milliseconds: number): string {
  let rest = Math.max(0, Math.floor(milliseconds / 1_000));
  const first = UNITS.findIndex(({ seconds }) => rest >= seconds);
  if (first < 0) return "0 s";
  const words: string[] = [];
  for (const { name, seconds } of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0) words.push(`${count} ${name}`);
  }
  return words.join(" ");
}

/** How far an instant is from now, in words. */
export function relative(instant: string, nowMs: number): string {
  const distance = Date.parse(instant) - nowMs;
  if (Number.isNaN(distance)) return instant;
  if (Math.abs(distance) < 1_500) return "now";
  return distance > 0 ? `in ${span(distance)}` : `${span(-distance)} ago`;
}

/** An instant by the clock of the one who reads, with its zone. */
export function clockTime(instant: string, zone?: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  return new Intl.DateTimeFormat("en-GB", {
    ...{ year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" },
    timeZoneName: "short",
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).format(date);
}

/** The short form for tables: the day only where it is another one than today, and its year where that is another one. */
export function tableTime(instant: string, nowMs: number, zone?: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  const inZone = zone === undefined ? {} : { timeZone: zone };
  const year = new Intl.DateTimeFormat("en-GB", { year: "numeric", ...inZone });
  const isThisYear = year.format(date) === year.format(new Date(nowMs));
  const ofYear = isThisYear ? {} : ({ year: "numeric" } as const);
  const day = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", ...ofYear, ...inZone });
  const time = new Intl.DateTimeFormat("en-GB", {
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
    ...inZone,
  }).format(date);
  return day.format(date) === day.format(new Date(nowMs)) ? time : `${day.format(date)} ${time}`;
}
