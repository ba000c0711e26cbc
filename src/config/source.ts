import type { Complaint, Path } from "./complaint.ts";
import { makeProblem, type Place, type Problem } from "./problem.ts";

/** Stands in the data for a value that was refused while reading: its problem is reported already. */
export const REFUSED: unique symbol = Symbol("refused");

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

/** A complaint with its place: that of its value or key; when it is missing, the nearest place above it. */
export function problemOf(source: Source, { path, message, suggestion, isKey }: Complaint): Problem {
  const { values, keys } = source.places();
  const place = isKey === true ? keys.get(pathKey(path)) : (placeOf(values, path) ?? placeOf(keys, path));
  return makeProblem(source, { place, path: path.join("."), message, suggestion });
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
