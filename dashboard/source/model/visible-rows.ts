export interface Scrolled {
  readonly count: number;
  readonly rowHeight: number;
  readonly top: number;
  readonly height: number;
}

/** Rows kept above and below what is seen, so that a quick scroll shows no gap. */
const SPARE = 6;

/** Which rows of a long list stand in the document: `first` up to, and without, `end`. */
export function visibleRows({ count, rowHeight, top, height }: Scrolled): { first: number; end: number } {
  const first = Math.max(Math.min(Math.floor(top / rowHeight) - SPARE, count - 1), 0);
  const end = Math.min(Math.ceil((top + height) / rowHeight) + SPARE, count);
  return { first, end: Math.max(end, Math.min(first, count)) };
}
