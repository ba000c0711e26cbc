import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import Fastify from "fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { servePage } from "../../../src/app/http/page-files.ts";

const server = Fastify({ logger: false });

beforeAll(async () => {
  servePage(server);
  await server.ready();
});

afterAll(async () => await server.close());

it.each([
  ["/", "index.html", "text/html; charset=utf-8"],
  ["/page.js", "page.js", "text/javascript; charset=utf-8"],
  ["/page.css", "page.css", "text/css; charset=utf-8"],
])(
  "serves %s as it was built, packed for who takes it so, under a policy that lets nothing else in",
  async (url, file, type) => {
    const built = readFileSync(`dashboard/built/${file}`);
    const plain = await server.inject({ url, headers: { "accept-encoding": "identity" } });
    expect(plain.rawPayload.equals(built)).toBe(true);
    const packed = await server.inject({ url, headers: { "accept-encoding": "gzip, br" } });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(packed.rawPayload).equals(built)).toBe(true);
    for (const { headers } of [plain, packed]) {
      expect(headers["content-type"]).toBe(type);
      const policy = String(headers["content-security-policy"]).split("; ");
      expect(policy).toEqual(
        expect.arrayContaining([
          ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
          ...["frame-ancestors 'none'", "require-trusted-types-for 'script'"],
        ]),
      );
      expect(policy.join()).not.toMatch(/unsafe|\*|https?:/);
      expect(headers["x-content-type-options"]).toBe("nosniff");
    }
  },
);

it("is asked for anew at each visit, and costs no bytes while it is the same", async () => {
  const first = await server.inject({ url: "/page.js" });
  expect(first.headers["cache-control"]).toBe("no-cache");
  const again = await server.inject({ url: "/page.js", headers: { "if-none-match": String(first.headers.etag) } });
  expect({ status: again.statusCode, bytes: again.rawPayload.length }).toEqual({ status: 304, bytes: 0 });
  const older = await server.inject({ url: "/page.js", headers: { "if-none-match": '"older"' } });
  expect(older.statusCode).toBe(200);
});

it.each(["/index.html", "/..%2f..%2fpackage.json", "/built/page.js", "/page.js.map", "//etc/passwd"])(
  "serves no other file: %s",
  async (url) => {
    expect((await server.inject({ url })).statusCode).toBe(404);
  },
);
