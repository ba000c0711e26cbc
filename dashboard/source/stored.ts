/** Where a browser keeps nothing: until the page is closed. */
const known = new Map<string, string>();

/** What the browser keeps of this page, for its own port alone; it may be anything. */
export function stored(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return known.get(key) ?? "";
  }
}

export function store(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    known.set(key, text);
  }
}
