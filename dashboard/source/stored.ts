/** What a browser would not keep: until the page is closed. */
const known = new Map<string, string>();

/** What the browser keeps of this page, for its own port alone; it may be anything. */
export function stored(key: string): string {
  try {
    return known.get(key) ?? localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function store(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
    known.delete(key);
  } catch {
    known.set(key, text);
  }
}
