import { signal } from "@preact/signals";

const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "swapd-theme";

/** What is kept may be anything, and a browser may keep nothing. */
function stored(): Theme {
  try {
    const text = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === text) ?? "auto";
  } catch {
    return "auto";
  }
}

export const theme = signal<Theme>(stored());
/** Counts up when colours changed, for what is painted and not styled. */
export const repaint = signal(0);

export function applyTheme(): void {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  repaint.value += 1;
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "auto";
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // it holds until the page is closed
  }
  applyTheme();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
