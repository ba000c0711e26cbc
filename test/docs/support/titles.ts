import { readFileSync } from "node:fs";

/** Whether a file has a test, or a group of tests, of this title, as it is written there. */
export function hasTitle(file: string, title: string): boolean {
  const text = readFileSync(file, "utf8");
  if (file.endsWith(".sol")) return text.includes(`function ${title}(`);
  const escaped = title.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`\\(\\s*(["'\`])${escaped}\\1,`).test(text.replaceAll('\\"', '"'));
}
