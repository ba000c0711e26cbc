/** Replaces what must not be shown in texts that others wrote: errors of libraries, answers of servers. */
export interface Redactor {
  redact(text: string): string;
  /** Learns one more secret, for example a key read after start. */
  add(secret: string): void;
}

const MARK = "[redacted]";
const URL_PATTERN = /\b(?:https?|wss?):\/\/[^\s"'`<>\\]+/gi;
const PRIVATE_KEY_PATTERN = /^(?:0x)?([0-9a-fA-F]{64})$/;

/** A secret this short is only replaced where it stands as a whole word, or it would eat ordinary text. */
const SHORT_SECRET_LENGTH = 6;

/**
 * Creates a redactor for the given secrets, in every form in which libraries print them: as they are, percent-encoded,
 * escaped for JSON, in base64, a private key with and without `0x` in any case, of a URL also its path, query, user and
 * password. Every URL in a text is cut to its origin, known or not, because provider URLs carry keys in their paths.
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const forms = new Set<string>();
  let pattern: RegExp | undefined;
  let isComplete = true;
  function add(secret: string): void {
    for (const form of formsOf(secret)) forms.add(form);
    isComplete = false;
  }
  /** Put together with the next text, not with each secret: hundreds of keys are added one after the other. */
  function known(): RegExp | undefined {
    if (isComplete) return pattern;
    // Longest first: a secret that contains another one is replaced as a whole.
    const longestFirst = [...forms].sort((a, b) => b.length - a.length);
    pattern = longestFirst.length === 0 ? undefined : new RegExp(longestFirst.map(toPattern).join("|"), "gi");
    isComplete = true;
    return pattern;
  }
  for (const secret of secrets) add(secret);
  return {
    add,
    redact(text) {
      const secret = known();
      return redactUrls(secret === undefined ? text : text.replace(secret, MARK));
    },
  };
}

/** Cuts every http and websocket URL in a text to its origin. */
function redactUrls(text: string): string {
  return text.replace(URL_PATTERN, (url) => {
    if (!URL.canParse(url)) return MARK;
    const { protocol, host, username, password, pathname, search } = new URL(url);
    const bare = username === "" && password === "" && pathname === "/" && search === "";
    return bare ? url : `${protocol}//${host}/${MARK}`;
  });
}

function formsOf(secret: string): readonly string[] {
  const text = secret.trim();
  if (text === "") return [];
  const parts = [text, ...partsOfUrl(text)];
  const key = PRIVATE_KEY_PATTERN.exec(text)?.[1];
  if (key !== undefined) parts.push(key, BigInt(`0x${key}`).toString());
  return parts.flatMap((part) => [
    part,
    encodeURIComponent(part),
    JSON.stringify(part).slice(1, -1),
    Buffer.from(part).toString("base64"),
  ]);
}

function partsOfUrl(text: string): readonly string[] {
  if (!/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return [];
  const url = new URL(text);
  const segments = url.pathname.split("/").filter((segment) => segment.length >= 12);
  const values = [...url.searchParams.values()];
  return [...segments, ...values, url.username, url.password].filter((part) => part.length >= SHORT_SECRET_LENGTH);
}

function toPattern(form: string): string {
  const escaped = form.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  return form.length >= SHORT_SECRET_LENGTH ? escaped : `(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`;
}
