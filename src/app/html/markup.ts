/** Text as it stands in HTML and in attributes with double quotes: names of tokens and strategies are anybody's. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** A table of texts; the first of each row is its heading. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(([head = "", ...cells]) => {
    const rest = cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join("");
    return `<tr><th scope="row">${escapeHtml(head)}</th>${rest}</tr>`;
  });
  return `<table>${lines.join("\n")}</table>`;
}

/** The same with a line of headings. @returns nothing where there are no rows */
export function headed(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const cells = heading.map(
    (text, index) => `<th scope="col"${index === 0 ? "" : ' style="text-align: right"'}>${escapeHtml(text)}</th>`,
  );
  const table = tableOf(rows).replace("<table>", `<table><thead><tr>${cells.join("")}</tr></thead>`);
  return `<div style="overflow-x: auto">${table}</div>`;
}

/** A list of texts. */
export function listOf(lines: readonly string[]): string {
  return `<ul>${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join("\n")}</ul>`;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b2330; --soft: #5b6675; --line: #d9dee6; --paper: #fff; --one: #0b62c4; --two: #8a94a3; --up: #0a7f4f; --down: #c22f2f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b4; --line: #333c48; --paper: #14181e; --one: #67a9f5; --two: #7b8696; --up: #43c08a; --down: #f0716b; } }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --one: #0b62c4; --two: #8a94a3; --up: #0a7f4f; --down: #c22f2f; } figure, section { break-inside: avoid; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 60rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; white-space: pre-wrap; } td { text-align: right; }
th, td { padding: 0.2rem 0.4rem; border-bottom: 1px solid var(--line); }
figure { margin: 1rem 0; } figcaption { color: var(--soft); font-size: 0.85rem; }
svg { width: 100%; height: auto; display: block; } svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
`;

/** One page that needs nothing else: no script, no request, and a policy that would refuse both. */
export function pageOf(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>
${body}
</body></html>
`;
}
