import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly body: any;
}

export type Parameters = Readonly<Record<string, string | readonly string[]>>;

/** A client that checks every answer against the OpenAPI document that the service itself serves. */
export interface Client {
  get(path: string, parameters?: Parameters, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A request with this much more in its URL, by the method that is documented. */
  long(path: string, padding: string): Promise<Answer>;
}

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

/** What is cut before its headers or its path are known. */
const UNCOUNTED = [431, 408];

/** Every answer tells its limit. */
function checkHeaders(path: string, { status, headers }: Response): void {
  expect(headers.get("content-type"), path).toMatch(/^application\/json/);
  if (UNCOUNTED.includes(status)) return;
  for (const suffix of ["Limit", "Remaining"]) {
    const count = headers.get(`RateLimit-${suffix}`);
    expect(count, `${path} ${status}: RateLimit-${suffix}`).toMatch(/^[0-9]{1,9}$/);
    expect(headers.get(`X-RateLimit-${suffix}-Second`), `${path} ${status}`).toBe(count);
  }
  expect(headers.get("RateLimit-Reset")).toBe("1");
  expect(Number(headers.get("RateLimit-Remaining"))).toBeLessThan(Number(headers.get("RateLimit-Limit")));
  if (status === 429) expect(headers.get("Retry-After")).toBe("1");
}

interface Described {
  readonly document: Document;
  readonly ajv: Ajv2020;
}

/** By their text: services of one configuration serve one document, and compiling its schemas takes long. */
const described = new Map<string, Described>();

function describedBy(text: string): Described {
  const known = described.get(text);
  if (known !== undefined) return known;
  const document = JSON.parse(text) as Document;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "service");
  described.set(text, { document, ajv });
  return { document, ajv };
}

export async function createClient(url: string): Promise<Client> {
  const { document, ajv } = describedBy(await (await fetch(`${url}/openapi.json`)).text());

  function check(method: string, path: string, status: number, body: unknown): void {
    const operation = document.paths[path]?.[method];
    expect(operation, `${method} ${path} is documented`).toBeDefined();
    expect(Object.keys(operation!.responses), `${path} documents ${status}`).toContain(String(status));
    const place = `${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${method}/responses/${status}`;
    const validate = ajv.getSchema(`service#/paths/${place}/content/application~1json/schema`);
    expect(validate, `${path} has a schema for ${status}`).toBeDefined();
    expect(validate!(body), `${path} ${status}: ${JSON.stringify(validate!.errors)} in ${JSON.stringify(body)}`).toBe(
      true,
    );
  }

  async function read(method: string, path: string, response: Response): Promise<Answer> {
    const body: unknown = await response.json();
    check(method, path, response.status, body);
    checkHeaders(path, response);
    return { status: response.status, headers: response.headers, body };
  }

  return {
    async get(path, parameters = {}, headers = {}) {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(parameters)) {
        for (const one of typeof value === "string" ? [value] : value) query.append(name, one);
      }
      return read("get", path, await fetch(`${url}${path}?${query}`, { headers }));
    },
    async long(path, padding) {
      const [method = "get"] = Object.keys(document.paths[path] ?? {});
      const content = method === "post" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
      return read(method, path, await fetch(`${url}${path}?padding=${padding}`, { method, ...content }));
    },
    async post(path, body, headers = {}) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const all = { "content-type": "application/json", ...headers };
      return read("post", path, await fetch(`${url}${path}`, { method: "POST", body: text, headers: all }));
    },
  };
}

/** The same client, which sends these headers with every request. */
export function withHeaders(client: Client, own: Record<string, string>): Client {
  return {
    ...client,
    get: (path, parameters, headers) => client.get(path, parameters, { ...own, ...headers }),
    post: (path, body, headers) => client.post(path, body, { ...own, ...headers }),
  };
}
