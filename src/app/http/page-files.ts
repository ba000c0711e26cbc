import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { takesGzip } from "./takes-gzip.ts";

/** What the page is made of; nothing else of its folder is served. */
const FILES = [
  { path: "/", file: "index.html", type: "text/html; charset=utf-8" },
  { path: "/page.js", file: "page.js", type: "text/javascript; charset=utf-8" },
  { path: "/page.css", file: "page.css", type: "text/css; charset=utf-8" },
] as const;

/** It loads nothing from elsewhere, runs nothing but its own file, and stands in nobody's frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Asked for at each visit, so that a page never is older than its daemon; unchanged files cost no more than the question.
  "cache-control": "no-cache",
  vary: "accept-encoding",
};

/** Beside `src` and `dist` alike. */
const BUILT = fileURLToPath(new URL("../../../dashboard/built/", import.meta.url));

interface Loaded {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly tag: string;
}

function load(file: string): Loaded | undefined {
  const place = join(BUILT, file);
  if (!existsSync(place)) return undefined;
  const plain = readFileSync(place);
  const tag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { plain, gzipped: gzipSync(plain, { level: 9 }), tag };
}

/** Serves the page. Its files are read once, at the first visit, and hold no figure: those come over the API. */
export function servePage(server: FastifyInstance): void {
  const loaded = new Map<string, Loaded | undefined>();
  for (const { path, file, type } of FILES) {
    server.get(path, async (request, reply) => {
      if (!loaded.has(file)) loaded.set(file, load(file));
      const content = loaded.get(file);
      if (content === undefined) return await reply.code(404).send({ error: "PAGE_NOT_INSTALLED" });
      return await send(request, reply.type(type), content);
    });
  }
}

async function send(request: FastifyRequest, reply: FastifyReply, { plain, gzipped, tag }: Loaded): Promise<void> {
  reply.headers({ ...HEADERS, etag: tag });
  // A proxy that packs an answer marks its tag as weak.
  if ((request.headers["if-none-match"] ?? "").replace(/^W\//, "") === tag) return await reply.code(304).send();
  if (!takesGzip(request)) return await reply.send(plain);
  return await reply.header("content-encoding", "gzip").send(gzipped);
}
