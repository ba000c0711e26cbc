/** Places of the page, as they stand behind the `#` of its address. */
export type Route =
  | { readonly page: "overview" | "history" | "services" | "wallets" | "alerts" | "record" }
  | { readonly page: "strategy"; readonly id: string }
  | { readonly page: "run"; readonly id: string }
  | { readonly page: "nowhere"; readonly text: string };

const PLAIN = ["history", "services", "wallets", "alerts", "record"] as const;

/** Reads a place; an unknown one is said, never guessed. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, "");
  if (text === "") return { page: "overview" };
  const [first = "", second = "", ...rest] = text.split("/");
  const plain = PLAIN.find((page) => page === first);
  if (plain !== undefined && second === "") return { page: plain };
  const isNamed = first === "strategy" || first === "run";
  const id = isNamed && rest.length === 0 ? decoded(second) : undefined;
  if (isNamed && id !== undefined && id !== "") return { page: first, id };
  return { page: "nowhere", text };
}

/** Percent signs that belong to no character are left alone. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export function linkToStrategy(id: string): string {
  return `#/strategy/${encodeURIComponent(id)}`;
}

export function linkToRun(id: string): string {
  return `#/run/${encodeURIComponent(id)}`;
}
