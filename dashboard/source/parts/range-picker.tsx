export const RANGES = [
  { text: "1 h", seconds: 3_600 },
  { text: "1 day", seconds: 86_400 },
  { text: "1 week", seconds: 604_800 },
  { text: "1 month", seconds: 2_678_400 },
  { text: "All", seconds: undefined },
] as const;

export type Range = (typeof RANGES)[number];

/** The start of a range that ends now; whole minutes, so that the same question is asked for a while. */
export function sinceOf(range: Range, nowMs: number): string | undefined {
  if (range.seconds === undefined) return undefined;
  const minute = 60_000;
  return new Date(Math.floor((nowMs - range.seconds * 1_000) / minute) * minute).toISOString();
}

interface RangePickerProps {
  readonly range: Range;
  readonly choose: (range: Range) => void;
  readonly name: string;
}

export function RangePicker({ range, choose, name }: RangePickerProps) {
  return (
    <fieldset class="ranges">
      <legend class="unseen">{name}</legend>
      {RANGES.map((one) => (
        <button type="button" class="plain" key={one.text} aria-pressed={one === range} onClick={() => choose(one)}>
          {one.text}
        </button>
      ))}
    </fieldset>
  );
}
