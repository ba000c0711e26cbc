/** What spreadsheets take for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;
/** Line ends and other characters that control something, direction marks among them. */
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** A cell of CSV (RFC 4180) that no spreadsheet takes for a formula. */
function csvCell(text: string): string {
  const line = oneLine(text);
  const harmless = FORMULA.test(line) ? `'${line}` : line;
  return /[",;]/.test(harmless) || harmless !== harmless.trim() ? quoted(harmless) : harmless;
}

/** A line of CSV. */
export function csvLine(cells: readonly string[]): string {
  return cells.map(csvCell).join(",");
}

/** The same with quotes around every cell. */
export function quotedLine(cells: readonly string[]): string {
  return cells.map((text) => quoted(FORMULA.test(oneLine(text)) ? `'${oneLine(text)}` : oneLine(text))).join(",");
}

/** Text without line ends, for formats whose lines mean something. */
export function oneLine(text: string): string {
  return text.replaceAll(CONTROLS, " ");
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Reads CSV with a heading. @returns one record a line with its number, or what is wrong */
export function readCsv(
  text: string,
  columns: { readonly needed: readonly string[]; readonly optional: readonly string[] },
): {
  readonly rows: readonly { readonly line: number; readonly cells: ReadonlyMap<string, string> }[];
  readonly problems: readonly string[];
} {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .map((line, index) => ({ line: index + 1, cells: splitLine(line) }));
  const [heading, ...others] = lines.filter(({ cells }) => cells?.join("") !== "");
  const names = heading?.cells?.map((name) => name.trim().toLowerCase()) ?? [];
  const missing = columns.needed.filter((name) => !names.includes(name));
  const unknown = names.filter((name) => ![...columns.needed, ...columns.optional].includes(name));
  const problems = [
    ...missing.map((name) => `line ${heading?.line ?? 1}: there is no column "${name}"`),
    ...unknown.map((name) => `line ${heading?.line ?? 1}: there is no use for a column "${name}"`),
    ...others.flatMap(({ line, cells }) =>
      cells === undefined
        ? [`line ${line}: a quote is not closed`]
        : cells.length === names.length
          ? []
          : [`line ${line}: it has ${cells.length} cells, and the heading ${names.length}`],
    ),
  ];
  const rows = others.map(({ line, cells = [] }) => ({
    line,
    cells: new Map(names.map((name, index) => [name, (cells[index] ?? "").trim()])),
  }));
  return { rows: problems.length === 0 ? rows : [], problems };
}

/** @returns undefined where a quote is not closed */
function splitLine(line: string): readonly string[] | undefined {
  const cells: string[] = [];
  let rest = line;
  for (;;) {
    const match = /^(?:\s*"((?:[^"]|"")*)"\s*|([^",]*))(?:,|$)/.exec(rest);
    if (match === null) return undefined;
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (!match[0].endsWith(",")) return cells;
    rest = rest.slice(match[0].length);
  }
}
