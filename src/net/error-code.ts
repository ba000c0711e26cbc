/** The code of an error, or its name: messages of libraries can contain a URL with its key. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "not an error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
