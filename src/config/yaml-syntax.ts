import { type Document, isCollection, isScalar, visit, type YAMLError } from "yaml";

/** A mistake in the syntax of a file: where its cause stands, and what to do. No value is repeated: it may be a secret. */
export interface SyntaxMistake {
  readonly offset: number;
  readonly message: string;
  readonly suggestion?: string;
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
  if (error.code === "TAB_AS_INDENT") {
    return { offset, message: "a tab indents this line", suggestion: "YAML is indented with spaces" };
  }
  const inLine = describeLine(text, offset) ?? describeIndent(error, text);
  if (inLine !== undefined) return inLine;
  const [, closer] = FLOW_END.exec(error.message) ?? [];
  if (closer !== undefined) {
    const opener = closer === "}" ? "{" : "[";
    const suggestion = `write ${closer} where it ends`;
    return { offset: openedAt(document, text, offset, closer), message: `this ${opener} is not closed`, suggestion };
  }
  const [, quote] = MISSING_QUOTE.exec(error.message) ?? [];
  if (quote !== undefined) {
    const suggestion = `write ${quote} where the text ends`;
    return { offset: openedAt(document, text, offset, quote), message: "this quote is not closed", suggestion };
  }
  return { offset, message: `this is no valid YAML: ${error.message.split("\n")[0] ?? error.code}` };
}

/** What the line itself shows: a value that YAML takes for something else, or a colon without its space. */
function describeLine(text: string, offset: number): SyntaxMistake | undefined {
  const start = lineStart(text, offset);
  const line = lineAt(text, start);
  const special = /^(\s*(?:- )?([\w-]+):\s+)([*@`%].*?)(?:\s+#.*)?$/.exec(line);
  if (special !== null) {
    const [, before = "", key, value = ""] = special;
    const suggestion = key === "cron" ? `write "${value}"` : "put it in quotes";
    return {
      offset: start + before.length,
      message: `a text that begins with ${value[0]} stands in quotes`,
      suggestion,
    };
  }
  const glued = /^(\s*(?:- )?)([A-Za-z][\w-]*):(?![\s/]|$)/.exec(line);
  if (glued === null) return undefined;
  const [, indent = "", key] = glued;
  return {
    offset: start + indent.length,
    message: "a space is missing after the colon",
    suggestion: `write "${key}: " and then its value`,
  };
}

/** A line that stands further in, or further out, than the keys beside it. */
function describeIndent(error: YAMLError, text: string): SyntaxMistake | undefined {
  const start = lineStart(text, error.pos[0]);
  const line = lineAt(text, start);
  const isNext = error.code === "BLOCK_AS_IMPLICIT_KEY" || error.code === "MULTILINE_IMPLICIT_KEY";
  if (isNext && /:\s.*:(?:\s|$)/.test(line)) {
    const offset = error.pos[0];
    return { offset, message: "a second colon in one line makes a map of this value", suggestion: "put it in quotes" };
  }
  if (!isNext && !error.message.startsWith("All mapping items must start")) return undefined;
  const culprit = isNext ? start + line.length + 1 : start;
  const indent = /^ */.exec(lineAt(text, culprit))?.[0].length ?? 0;
  return {
    offset: culprit + indent,
    message: "this line does not stand under the keys that it belongs to",
    suggestion: "keys of one map begin in the same column",
  };
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
