import { type Document, isCollection, isScalar, visit, type YAMLError } from "yaml";
import { type Complaint, wrong } from "./complaint.ts";

/** A mistake in the syntax of a file: where its cause stands, and what to do. No value is repeated: it may be a secret. */
export interface SyntaxMistake {
  readonly offset: number;
  readonly complaint: Complaint;
}

/** Reads the parser's errors as mistakes of a person: one for each line, at its cause instead of where the parser gave up. */
export function describeSyntax(errors: readonly YAMLError[], text: string, document: Document): SyntaxMistake[] {
  const lines = new Set<number>();
  return errors
    .map((error) => describeError(error, text, document))
    .filter(({ offset }) => {
      const start = lineStart(text, offset);
      return !lines.has(start) && lines.add(start);
    });
}

const FLOW_END = /end with a ([}\]])/;
const MISSING_QUOTE = /^Missing closing (.)quote/;

function describeError(error: YAMLError, text: string, document: Document): SyntaxMistake {
  const offset = error.pos[0];
  if (error.code === "TAB_AS_INDENT")
    return { offset, complaint: wrong`a tab indents this line -> YAML is indented with spaces` };
  const inLine = describeLine(text, offset) ?? describeIndent(error, text);
  if (inLine !== undefined) return inLine;
  const [, closer] = FLOW_END.exec(error.message) ?? [];
  if (closer !== undefined) {
    const complaint = wrong`this ${closer === "}" ? "{" : "["} is not closed -> write ${closer} where it ends`;
    return { offset: openedAt(document, text, offset, closer), complaint };
  }
  const [, quote] = MISSING_QUOTE.exec(error.message) ?? [];
  if (quote !== undefined) {
    const complaint = wrong`this quote is not closed -> write ${quote} where the text ends`;
    return { offset: openedAt(document, text, offset, quote), complaint };
  }
  // Behind a colon the parser repeats what stands there.
  const said = error.message.replace(/(?:\b:|\n).*/s, "");
  return { offset, complaint: wrong`this is no valid YAML: ${said}` };
}

/** What the line itself shows: a value that YAML takes for something else, or a colon without its space. */
function describeLine(text: string, offset: number): SyntaxMistake | undefined {
  const start = lineStart(text, offset);
  const line = lineAt(text, start);
  const special = /^(\s*(?:- )?([\w-]+):\s+)([*@`%].*?)(?:\s+#.*)?$/.exec(line);
  if (special !== null) {
    const [, before = "", key, value = ""] = special;
    const fix = key === "cron" ? `write "${value}"` : "put it in quotes";
    const complaint = wrong`a text that begins with ${value[0]} must be in quotes -> ${fix}`;
    return { offset: start + before.length, complaint };
  }
  const glued = /^(\s*(?:- )?)([A-Za-z][\w-]*):(?![\s/]|$)/.exec(line);
  if (glued === null) return undefined;
  const [, indent = "", key] = glued;
  const complaint = wrong`a space is missing after the colon -> write "${key}: " and then its value`;
  return { offset: start + indent.length, complaint };
}

/** A line that is indented more, or less, than the keys around it. */
function describeIndent(error: YAMLError, text: string): SyntaxMistake | undefined {
  const start = lineStart(text, error.pos[0]);
  const line = lineAt(text, start);
  const isNext = error.code === "BLOCK_AS_IMPLICIT_KEY" || error.code === "MULTILINE_IMPLICIT_KEY";
  if (isNext && /:\s.*:(?:\s|$)/.test(line)) {
    const complaint = wrong`a second colon in one line makes a map of this value -> put it in quotes`;
    return { offset: error.pos[0], complaint };
  }
  if (!isNext && !error.message.startsWith("All mapping items must start")) return undefined;
  const culprit = isNext ? start + line.length + 1 : start;
  const indent = /^ */.exec(lineAt(text, culprit))?.[0].length ?? 0;
  const complaint = wrong`this line is not aligned with the keys that it belongs to -> keys of one map begin in the same column`;
  return { offset: culprit + indent, complaint };
}

/** The last quote or bracket before an offset that is still open there. */
function openedAt(document: Document, text: string, offset: number, closer: string): number {
  let opened = offset;
  visit(document, {
    Node(_key, node) {
      const [start = 0, end = 0] = node.range ?? [];
      const isOpen = isScalar(node) ? text[start] === closer : isCollection(node) && text[end - 1] !== closer;
      const begins = isScalar(node) ? closer : closer === "}" ? "{" : "[";
      if (isOpen && start <= offset && text[start] === begins) opened = start;
    },
  });
  return opened;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", Math.min(offset, text.length) - 1) + 1;
}

function lineAt(text: string, start: number): string {
  return text.slice(start, text.indexOf("\n", start) < 0 ? undefined : text.indexOf("\n", start)).trimEnd();
}
