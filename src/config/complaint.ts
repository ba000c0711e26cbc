/** Keys and positions from the top of a file to one of its values. */
export type Path = readonly (string | number)[];

/** What is wrong with one value of a file, and what to write instead. Its place is looked up once it is reported. */
export interface Complaint {
  readonly path: Path;
  readonly message: string;
  readonly suggestion?: string | undefined;
  /** it is about the key, not about its value */
  readonly isKey?: boolean;
}

/** Work that comes to a value, and yields what it finds wrong on the way. It changes nothing outside of itself. */
export type Found<T> = Generator<Complaint, T>;

/** A part of the configuration; undefined where it is not there, or broken: then that was complained of. */
export type Part<T> = Found<T | undefined>;

type Word = string | number | Path | undefined;

const HOLE = /\0([0-9]+)\0/;

/**
 * A complaint in one line, written as it is read: path, message, and after an arrow what to do.
 * @example at`budget.total: is less than ${min} -> raise it`
 */
export function at(texts: TemplateStringsArray, ...parts: readonly Word[]): Complaint {
  const whole = String.raw({ raw: texts }, ...parts.map((_, index) => `\0${index}\0`));
  const [, path = "", message = "", suggestion] = /^(.*?): (.*?)(?: -> (.*))?$/s.exec(whole) ?? [];
  const partAt = (name: string): Word => parts[Number(HOLE.exec(name)?.[1])];
  const fill = (text: string): string => text.replaceAll(new RegExp(HOLE, "g"), (hole) => String(partAt(hole)));
  const names = path.split(".").filter((name) => name !== "");
  return {
    path: names.flatMap((name) => (HOLE.test(name) ? (partAt(name) ?? []) : name)),
    message: fill(message),
    suggestion: suggestion === undefined || fill(suggestion) === String(undefined) ? undefined : fill(suggestion),
  };
}

/** What is wrong with a text, wherever it stands. */
export function wrong([first = "", ...texts]: TemplateStringsArray, ...words: readonly Word[]): Complaint {
  const written = [`: ${first}`, ...texts];
  return at(Object.assign(written, { raw: written }), ...words);
}

/** The same about the key itself. */
export function atKey(...written: Parameters<typeof at>): Complaint {
  return { ...at(...written), isKey: true };
}

/** Complains, and comes to nothing. */
export function* refuse(...written: Parameters<typeof at>): Found<undefined> {
  yield at(...written);
}

/** The same about the key itself. */
export function* refuseKey(...written: Parameters<typeof at>): Found<undefined> {
  yield atKey(...written);
}

/** What some work came to; undefined where it complained of anything. */
export function* sound<T>(work: Found<T>): Part<T> {
  let isSound = true;
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return isSound ? step.value : undefined;
    isSound = false;
    yield step.value;
  }
}

/** Does the same work for each item, and keeps what came of it. */
export function* each<Item, Out>(items: Iterable<Item>, work: (item: Item, index: number) => Part<Out>): Found<Out[]> {
  const all: Out[] = [];
  let index = 0;
  for (const item of items) {
    const out = yield* work(item, index);
    if (out !== undefined) all.push(out);
    index += 1;
  }
  return all;
}

/** The same complaints of a part, by their paths from the top of the file. */
export function* within<T>(path: Path, part: Found<T>): Found<T> {
  for (let step = part.next(); ; step = part.next()) {
    if (step.done === true) return step.value;
    yield { ...step.value, path: [...path, ...step.value.path] };
  }
}
