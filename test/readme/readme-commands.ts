/** A command that the README tells its readers to type. */
export interface ReadmeCommand {
  /** the first line is 1 */
  readonly line: number;
  /** without the comment behind it */
  readonly text: string;
}

const FENCE = /^\s*```(\w*)\s*$/;
const COMMENT = /(?:^|\s+)#\s.*$/;
const INLINE = /`((?:npm|npx|node|export|docker|git) [^`]+)`/g;

/**
 * Every command of a Markdown text, in order: each line of its `sh` blocks, and each command within a sentence. One
 * that occurs again is listed once, where it is first.
 */
export function readCommands(markdown: string): readonly ReadmeCommand[] {
  const found = new Map<string, ReadmeCommand>();
  const note = (text: string, line: number): void => {
    if (text !== "" && !found.has(text)) found.set(text, { line, text });
  };
  for (const { text, line, fence } of linesOf(markdown)) {
    if (fence === "sh") note(text.replace(COMMENT, "").trim(), line);
    if (fence === undefined) for (const [, command = ""] of text.matchAll(INLINE)) note(command, line);
  }
  return [...found.values()];
}

/** Lines of output that the README shows as a sample: those of its blocks without a language that begin with an instant. */
export function readSampleLines(markdown: string): readonly string[] {
  return linesOf(markdown)
    .filter(({ text, fence }) => fence === "" && /^\d{4}-\d\d-\d\dT.* 0x[0-9a-f]{64}$/.test(text))
    .map(({ text }) => text);
}

/** What a line like the sample looks like: the same words, any instant, any amounts, any hash, any gaps. */
export function shapeOf(sample: string): RegExp {
  const parts = sample.trim().split(/\s+/).map(partShape);
  return new RegExp(`^${parts.join("\\s+")}$`);
}

function partShape(part: string): string {
  if (/^\d{4}-\d\d-\d\dT[\d:]+Z$/.test(part)) return "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ";
  if (/^0x[0-9a-f]{64}$/.test(part)) return "0x[0-9a-f]{64}";
  if (/^\d+(?:\.\d+)?$/.test(part)) return "\\d+(?:\\.\\d+)?";
  return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

interface Line {
  readonly text: string;
  readonly line: number;
  /** language of the block around it, empty where the block names none, undefined outside of blocks */
  readonly fence: string | undefined;
}

function linesOf(markdown: string): readonly Line[] {
  const lines: Line[] = [];
  let fence: string | undefined;
  for (const [index, text] of markdown.split("\n").entries()) {
    const mark = FENCE.exec(text);
    if (mark === null) lines.push({ text, line: index + 1, fence });
    else fence = fence === undefined ? (mark[1] ?? "") : undefined;
  }
  return lines;
}
