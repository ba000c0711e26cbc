type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly { name: string; required?: boolean; description?: string; schema: Json }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Json }>>;

interface Document {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly "x-errors": Readonly<Record<string, { code: number; status: number; message: string; remedy: string }>>;
}

/** The page loads nothing from anywhere, and nothing on it runs. */
export const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
} as const;

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h2{margin-top:2.5rem;border-top:1px solid #d0d7de;padding-top:1rem}h3{margin-bottom:.3rem}
code{font-family:ui-monospace,monospace;font-size:.92em}table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-bottom:1px solid #eaeef2}
nav li{list-style:none}nav ul{padding:0;columns:2}`;

/** How deep the fields of an answer are shown. */
const MAX_DEPTH = 4;

/** The OpenAPI document for people: one plain page. */
export function readablePage(openApi: Json): string {
  const document = openApi as unknown as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
  const links = operations.map(
    ({ name }) => `<li><a href="#${anchor(name)}"><code>${escapeHtml(name)}</code></a></li>`,
  );
  const { title, description } = document.info;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)}</h1><p>${escapeHtml(description)}</p>
<p>For programs: <a href="/openapi.json">/openapi.json</a>.</p>
<nav><ul>${links.join("")}<li><a href="#errors">Errors</a></li></ul></nav>
${operations.map(({ name, operation }) => section(name, operation)).join("\n")}
<h2 id="errors">Errors</h2>${errorTable(document["x-errors"])}
</body></html>
`;
}

function section(name: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map(({ name: field, required, description, schema }) => ({
    field,
    type: typeOf(schema),
    text: `${required === true ? "Required. " : ""}${description ?? ""}`,
  }));
  const body = schemaOf(operation.requestBody?.content);
  const fields = body === undefined ? parameters : fieldsOf(body);
  const answers = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const schema = status === "200" ? schemaOf(content) : undefined;
    const table = schema === undefined ? "" : fieldTable(fieldsOf(schema));
    return `<h3>${escapeHtml(status)}</h3><p>${escapeHtml(description)}</p>${table}`;
  });
  const request = fields.length === 0 ? "" : `<h3>Request</h3>${fieldTable(fields)}`;
  return `<h2 id="${anchor(name)}"><code>${escapeHtml(name)}</code></h2><p>${escapeHtml(operation.summary ?? "")}</p>
${request}${answers.join("")}`;
}

interface Field {
  readonly field: string;
  readonly type: string;
  readonly text: string;
}

function fieldsOf(schema: Json, prefix = "", depth = 0): Field[] {
  const inner = (schema.type === "array" ? schema.items : schema) as Json;
  const start = schema.type === "array" ? `${prefix}[]` : prefix;
  const required = (inner.required ?? []) as string[];
  return Object.entries((inner.properties ?? {}) as Record<string, Json>).flatMap(([name, property]) => {
    const field = start === "" ? name : `${start}.${name}`;
    const text = `${required.includes(name) ? "" : "Optional. "}${String(property.description ?? "")}`;
    const own: Field = { field, type: typeOf(property), text };
    return depth >= MAX_DEPTH ? [own] : [own, ...fieldsOf(property, field, depth + 1)];
  });
}

function schemaOf(content: Content | undefined): Json | undefined {
  return content?.["application/json"]?.schema;
}

function typeOf(schema: Json): string {
  const choices = (schema.anyOf ?? schema.oneOf) as Json[] | undefined;
  if (choices !== undefined) return choices.map(typeOf).join(" or ");
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf((schema.items ?? {}) as Json)}`;
  return String(schema.type ?? "any");
}

function fieldTable(fields: readonly Field[]): string {
  if (fields.length === 0) return "";
  const rows = fields.map(
    ({ field, type, text }) =>
      `<tr><td><code>${escapeHtml(field)}</code></td><td>${escapeHtml(type)}</td><td>${escapeHtml(text)}</td></tr>`,
  );
  return `<table>${rows.join("")}</table>`;
}

function errorTable(errors: Document["x-errors"]): string {
  const rows = Object.entries(errors).map(
    ([name, { code, status, message, remedy }]) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${status}</td><td>${code}</td><td>${escapeHtml(`${message}. ${remedy}`)}</td></tr>`,
  );
  return `<table><tr><th>Error</th><th>HTTP</th><th>Code</th><th>What to do</th></tr>${rows.join("")}</table>`;
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
