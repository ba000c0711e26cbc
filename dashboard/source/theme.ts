import { signal } from "@preact/signals";
import { store, stored } from "./stored.ts";

const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "swapd-theme";

export const theme = signal<Theme>(THEMES.find((one) => one === stored(KEY)) ?? "auto");
/** Counts up when colours changed, for what is painted and not styled. */
export const repaint = signal(0);

export function applyTheme(): void {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  repaint.value += 1;
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "auto";
  store(KEY, theme.value);
  applyTheme();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
