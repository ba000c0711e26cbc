import { makeProblem, type Problem } from "./problem.ts";

/** Keys and positions from the top of a file to one of its values. */
export type Path = readonly (string | number)[];

/** Stands in the data for a value that was refused while reading: its problem is reported already. */
export const REFUSED: unique symbol = Symbol("refused");

/** A place in a file, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where each key and value of a file stands. */
export interface Places {
  readonly values: ReadonlyMap<string, Place>;
  readonly keys: ReadonlyMap<string, Place>;
}

/** A file that was read as plain data. */
export interface Source {
  readonly file: string;
  readonly text: string;
  readonly data: unknown;
  /** may read the file's text again: for problems only */
  places(): Places;
}

/** How a path is written as a key of {@link Places}. */
export function pathKey(path: Path): string {
  return path.join("\u0000");
}

/** A problem with the value at a path; when the value is missing, at the nearest place above it. */
export function problemAt(source: Source, path: Path, message: string, suggestion?: string): Problem {
  const { values, keys } = source.places();
  return problemAtPlace(source, path, placeOf(values, path) ?? placeOf(keys, path), message, suggestion);
}

/** A problem with the key at a path itself. */
export function problemAtKey(source: Source, path: Path, message: string, suggestion?: string): Problem {
  return problemAtPlace(source, path, source.places().keys.get(pathKey(path)), message, suggestion);
}

/** `file:line:column` of the value at a path, for a message that names two places. */
export function describePlace(source: Source, path: Path): string {
  const place = placeOf(source.places().values, path) ?? { line: 1, column: 1 };
  return `${source.file.slice(source.file.lastIndexOf("/") + 1)}:${place.line}:${place.column}`;
}

function placeOf(places: ReadonlyMap<string, Place>, path: Path): Place | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const place = places.get(pathKey(path.slice(0, length)));
    if (place !== undefined) return place;
  }
  return undefined;
}

function problemAtPlace(
  source: Source,
  path: Path,
  place: Place | undefined,
  message: string,
  suggestion: string | undefined,
): Problem {
  const { line, column } = place ?? { line: 1, column: 1 };
  const excerpt = source.text.split(/\r?\n/)[line - 1];
  return makeProblem({
    file: source.file,
    line,
    column,
    path: path.join("."),
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(excerpt === undefined ? {} : { excerpt }),
  });
}
