/** A cron expression as sorted lists of the values each field admits. Days of the week count from Sunday = 0. */
export interface CronPattern {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  readonly months: readonly number[];
  readonly daysOfWeek: readonly number[];
  /**
   * Both day fields are restricted (neither is `*`): then a day matches when either does. A step restricts, too.
   * Otherwise both must match.
   */
  readonly eitherDay: boolean;
}

/** Why a text is no cron expression, in words for the operator. */
export interface CronProblem {
  readonly problem: string;
}

interface FieldRule {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
  /** value of the first name */
  readonly firstName: number;
}

const MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Three-letter names of the days, Sunday first, lower case. */
export const DAY_NAMES: readonly string[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const MINUTE: FieldRule = { name: "minute", low: 0, high: 59, names: [], firstName: 0 };
const HOUR: FieldRule = { name: "hour", low: 0, high: 23, names: [], firstName: 0 };
const DAY_OF_MONTH: FieldRule = { name: "day of month", low: 1, high: 31, names: [], firstName: 0 };
const MONTH: FieldRule = { name: "month", low: 1, high: 12, names: MONTH_NAMES, firstName: 1 };
const DAY_OF_WEEK: FieldRule = { name: "day of week", low: 0, high: 7, names: DAY_NAMES, firstName: 0 };

const MAX_EXPRESSION_LENGTH = 256;
const LONGEST_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Parses a cron expression of five fields: minute, hour, day of month, month, day of week. Fields hold `*`, values,
 * ranges `a-b`, steps (a star or a range, a slash, a number), lists, and English three-letter names of months
 * and days; Sunday is 0 or 7.
 * @returns the pattern, or what is wrong and how to write it
 */
export function parseCron(expression: string): CronPattern | CronProblem {
  const known = parsed.get(expression);
  if (known !== undefined) return known;
  const pattern = parse(expression);
  if ("problem" in pattern) return pattern;
  if (parsed.size >= MAX_REMEMBERED) parsed.clear();
  parsed.set(expression, pattern);
  return pattern;
}

/** Thousands of strategies share few expressions, and each is asked for at every slot. */
const parsed = new Map<string, CronPattern>();
const MAX_REMEMBERED = 20_000;

function parse(expression: string): CronPattern | CronProblem {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    return {
      problem: `a cron expression has at most ${MAX_EXPRESSION_LENGTH} characters, this one ${expression.length}`,
    };
  }
  const fields = expression.trim().split(/\s+/);
  if (expression.trim().startsWith("@")) {
    return { problem: `"${expression.trim()}" is a macro; write the five fields, for example "0 9 * * *"` };
  }
  const [minuteText, hourText, dayText, monthText, weekdayText] = fields;
  if (fields.length !== 5 || !minuteText || !hourText || !dayText || !monthText || !weekdayText) {
    return {
      problem: `a cron expression has five fields (minute hour day-of-month month day-of-week), this one ${fields.length}`,
    };
  }
  const minutes = parseField(minuteText, MINUTE);
  const hours = parseField(hourText, HOUR);
  const daysOfMonth = parseField(dayText, DAY_OF_MONTH);
  const months = parseField(monthText, MONTH);
  const weekdays = parseField(weekdayText, DAY_OF_WEEK);
  for (const field of [minutes, hours, daysOfMonth, months, weekdays]) if ("problem" in field) return field;
  const pattern: CronPattern = {
    minutes: values(minutes),
    hours: values(hours),
    daysOfMonth: values(daysOfMonth),
    months: values(months),
    daysOfWeek: sortedSet(values(weekdays).map((day) => day % 7)),
    eitherDay: dayText !== "*" && weekdayText !== "*",
  };
  return neverOccurs(pattern, weekdayText) ? { problem: `no month of "${monthText}" has a day "${dayText}"` } : pattern;
}

function values(field: { values: readonly number[] } | CronProblem): readonly number[] {
  return "values" in field ? field.values : [];
}

function sortedSet(numbers: Iterable<number>): readonly number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function neverOccurs(pattern: CronPattern, weekdayText: string): boolean {
  if (weekdayText !== "*") return false;
  return !pattern.months.some((month) => pattern.daysOfMonth.some((day) => day <= (LONGEST_MONTH[month - 1] ?? 0)));
}

function parseField(text: string, rule: FieldRule): { values: readonly number[] } | CronProblem {
  const found = new Set<number>();
  for (const item of text.split(",")) {
    const range = parseItem(item, rule);
    if ("problem" in range) return range;
    for (let value = range.from; value <= range.to; value += range.step) found.add(value);
  }
  return { values: sortedSet(found) };
}

function parseItem(item: string, rule: FieldRule): { from: number; to: number; step: number } | CronProblem {
  const wrong = (why: string): CronProblem => ({ problem: `${rule.name} "${item}": ${why}` });
  const match = /^(\*|[0-9a-z]+(?:-[0-9a-z]+)?)(?:\/([0-9]{1,2}))?$/i.exec(item);
  if (match === null) return wrong("write *, a value, a range a-b, or a step */n");
  const [, body = "", stepText] = match;
  const step = stepText === undefined ? 1 : Number(stepText);
  if (step === 0) return wrong("a step is at least 1");
  if (step > rule.high) return wrong(`a step is at most ${rule.high}`);
  if (body === "*") return { from: rule.low, to: rule.high, step };
  const [fromText = "", toText] = body.split("-");
  if (toText === undefined && stepText !== undefined)
    return wrong(`a step needs a range: write ${body}-${rule.high}/${step}`);
  const from = parseValue(fromText, rule);
  const to = toText === undefined ? from : parseValue(toText, rule);
  if (from === undefined || to === undefined) return wrong(`values run from ${rule.low} to ${rule.high}`);
  if (from > to) return wrong("the range runs backwards; write two ranges with a comma between");
  return { from, to, step };
}

function parseValue(text: string, rule: FieldRule): number | undefined {
  const named = rule.names.indexOf(text.toLowerCase());
  if (named >= 0) return named + rule.firstName;
  if (!/^[0-9]{1,2}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= rule.low && value <= rule.high ? value : undefined;
}
