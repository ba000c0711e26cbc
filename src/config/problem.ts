/** A mistake in a configuration file, with its place. Lines and columns count from 1. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** keys from the top of the file to the value, joined by dots; empty for the file itself */
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
  /** the line of the file, with everything that may be a secret blanked out */
  readonly excerpt?: string;
}

/** Keys whose values are secrets, or lead to one. */
const SECRET_KEY = /(?:api_?keys?|private_?key|secret|passw?o?r?d?|passphrase|mnemonic|seed|webhook)/i;
/** The same of words that are common ones elsewhere: as a key alone, with the colon behind it or at the end of a path. */
const SECRET_WORD = /\b(?:(?:access|api|auth|bearer|bot)_?)?(?:token|topic|user)(?:["']?\s*:|\.|$)/i;
const SECRET_PATH = /(?:^|\.)(?:wallets|rpc|submit|relayer|apiKeys?|channels|commands)(?:\.|$)/;

/** Whether a path, or a line of a file, may be about a secret. */
export function isAboutSecret(text: string): boolean {
  return SECRET_KEY.test(text) || SECRET_WORD.test(text) || SECRET_PATH.test(text);
}

/**
 * Blanks out what may be a secret in a text: 64 hexadecimal digits or more (a private key), and of a URL everything but
 * its scheme and host.
 */
export function blankSecrets(text: string): string {
  return text
    .replaceAll(/(?:0x)?[0-9a-fA-F]{64,}/g, "***")
    .replaceAll(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, "$1***@")
    .replaceAll(/\b([a-z][a-z0-9+.-]*:\/\/)([^\s/?#"']+)[/?#][^\s"'}\]]+/gi, "$1$2/***");
}

/** A place in a file, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Makes a problem whose message and excerpt hold no secret. Without a place it is about the file itself. */
export function makeProblem(
  { file, text }: { readonly file: string; readonly text: string },
  about: { place?: Place | undefined; path?: string; message: string; suggestion?: string | undefined },
): Problem {
  const { place = { line: 1, column: 1 }, path = "", message, suggestion } = about;
  const excerpt = text === "" ? undefined : text.split(/\r?\n/)[place.line - 1];
  return {
    file,
    ...place,
    path,
    message: blankSecrets(message),
    ...(suggestion === undefined ? {} : { suggestion: blankSecrets(suggestion) }),
    ...(excerpt === undefined ? {} : { excerpt: blankExcerpt(excerpt, path) }),
  };
}

function blankExcerpt(line: string, path: string): string {
  const shown = blankSecrets(line);
  const secret = isAboutSecret(path) || SECRET_KEY.test(line) || SECRET_WORD.test(line);
  if (!secret || holdsOnlyReferences(line)) return shown;
  const colon = shown.search(/:(?:\s|$)/);
  const afterColon = shown.slice(colon + 1).trim();
  if (colon >= 0) return afterColon === "" ? shown : `${shown.slice(0, colon + 1)} ***`;
  return `${/^\s*(?:-\s*)?/.exec(shown)?.[0] ?? ""}***`;
}

/** Whether a line holds nothing but keys, brackets, names of variables, and the values of file and address. */
function holdsOnlyReferences(line: string): boolean {
  const rest = line
    .replace(/\s#.*$/, "")
    .replaceAll(/\benv["']?\s*:\s*["']?[A-Za-z_]\w{0,127}["']?\s*(?=[,{}[\]]|$)/g, "")
    .replaceAll(/\b(?:file|address)["']?\s*:\s*[^,{}[\]]+/g, "")
    .replaceAll(/["']?[\w-]+["']?\s*:/g, "");
  return /^[\s{}[\],-]*$/.test(rest);
}

/**
 * Writes problems for people: place, message, the line with a caret under it, and what to do; sorted by file and place.
 * @param relativeTo a folder; paths inside it are written relative to it
 */
export function formatProblems(problems: readonly Problem[], relativeTo = ""): string {
  const prefix = relativeTo === "" || relativeTo.endsWith("/") ? relativeTo : `${relativeTo}/`;
  return [...problems]
    .sort(byPlace)
    .map((problem) => formatProblem(problem, prefix))
    .join("\n");
}

function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

function formatProblem(problem: Problem, prefix: string): string {
  const file = prefix !== "" && problem.file.startsWith(prefix) ? problem.file.slice(prefix.length) : problem.file;
  const lines = [
    `${file}:${problem.line}:${problem.column}: ${problem.path === "" ? "" : `${problem.path}: `}${problem.message}`,
  ];
  if (problem.excerpt !== undefined && problem.excerpt.trim() !== "") {
    const number = String(problem.line);
    // what was blanked out is shorter: the caret stands under its end
    const end = problem.excerpt.endsWith("***") ? problem.excerpt.length : problem.column;
    const indent = " ".repeat(Math.min(problem.column, end) - 1);
    lines.push(`  ${number} | ${problem.excerpt}`, `  ${" ".repeat(number.length)} | ${indent}^`);
  }
  if (problem.suggestion !== undefined) lines.push(`  -> ${problem.suggestion}`);
  return `${lines.join("\n")}\n`;
}
