/** The sentence of a problem document (RFC 9457), or of a start that waits for a person, if the text is one of them. */
export function problemIn(text: string): string | undefined {
  try {
    const { detail, problem, title } = JSON.parse(text) as { readonly [name: string]: unknown };
    const sentence = detail ?? problem ?? title;
    return typeof sentence === "string" ? sentence : undefined;
  } catch {
    // no JSON: a proxy's own page, for example
    return undefined;
  }
}

/** What was thrown, in words for people. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
