import { LosslessNumber, parse } from "lossless-json";

/** A JSON value whose numbers keep their text: `LosslessNumber` objects, never JavaScript numbers. */
export type LosslessJson =
  | null
  | boolean
  | string
  | LosslessNumber
  | readonly LosslessJson[]
  | { readonly [key: string]: LosslessJson };

/** Why a text is refused as JSON. */
export interface JsonRefused {
  readonly refused: string;
}

const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);
const DEFAULT_DEPTH = 64;

/**
 * Parses JSON from outside without losing digits. Refuses what parsers disagree about: duplicate keys (also equal ones),
 * keys that reach into JavaScript objects, nesting deeper than `maxDepth`.
 */
export function parseJsonLossless(
  text: string,
  options: { maxDepth?: number } = {},
): { value: LosslessJson } | JsonRefused {
  const problem = findStructuralProblem(text, options.maxDepth ?? DEFAULT_DEPTH);
  if (problem !== undefined) return { refused: problem };
  try {
    // The parser builds exactly the kinds of LosslessJson: its number parser is the one that keeps the text.
    return { value: parse(text) as LosslessJson };
  } catch (error) {
    return { refused: error instanceof Error ? `not JSON: ${error.message.slice(0, 200)}` : "not JSON" };
  }
}

/** The exact text of a JSON number, as it stood in the document. */
export function numberText(value: unknown): string | undefined {
  return value instanceof LosslessNumber ? value.value : undefined;
}

interface Container {
  readonly keys: Set<string> | undefined;
}

/**
 * One pass without recursion, before the recursive parser: depth and keys. On text that is not JSON it may see nothing
 * wrong; the parser then refuses it.
 */
function findStructuralProblem(text: string, maxDepth: number): string | undefined {
  const open: Container[] = [];
  for (let position = 0; position < text.length; position++) {
    switch (text[position]) {
      case "{":
      case "[":
        if (open.length === maxDepth) return `nested deeper than ${maxDepth} levels`;
        open.push({ keys: text[position] === "{" ? new Set() : undefined });
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case '"': {
        const end = endOfString(text, position);
        if (end === undefined) return "a text without an end";
        const problem = keyProblem(text, { start: position, end }, open.at(-1));
        if (problem !== undefined) return problem;
        position = end - 1;
      }
    }
  }
  return undefined;
}

/** The index after the closing quote. */
function endOfString(text: string, start: number): number | undefined {
  for (let position = start + 1; position < text.length; position++) {
    if (text[position] === "\\") position++;
    else if (text[position] === '"') return position + 1;
  }
  return undefined;
}

function isFollowedByColon(text: string, start: number): boolean {
  let position = start;
  while (position < text.length && " \t\r\n".includes(text[position] ?? "")) position++;
  return text[position] === ":";
}

function keyProblem(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  container: Container | undefined,
): string | undefined {
  if (!isFollowedByColon(text, end)) return undefined;
  const key = unquote(text.slice(start, end));
  if (key === undefined) return "a key that is not a JSON text";
  if (FORBIDDEN_KEYS.has(key)) return `the key ${JSON.stringify(key)} is not allowed`;
  if (container?.keys === undefined) return undefined;
  if (container.keys.has(key)) return `the key ${JSON.stringify(key.slice(0, 80))} occurs twice`;
  container.keys.add(key);
  return undefined;
}

function unquote(quoted: string): string | undefined {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
