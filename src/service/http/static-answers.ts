import { hash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { openApiDocument } from "./openapi.ts";
import { PAGE_HEADERS, readablePage } from "./readable-page.ts";

/** How long a client may go on without asking; afterwards the tag shows whether anything changed. */
const MAX_AGE_SECONDS = 300;

/** Serves what is the same for everybody until the next release: bytes that are made once, with a tag of their own. */
export function addStaticAnswers(server: FastifyInstance): void {
  const document = openApiDocument();
  const answers = [
    {
      path: "/openapi.json",
      headers: { "Content-Type": "application/json; charset=utf-8" },
      text: JSON.stringify(document),
    },
    { path: "/docs", headers: PAGE_HEADERS, text: readablePage(document) },
  ];
  for (const { path, headers, text } of answers) {
    const body = Buffer.from(text, "utf8");
    const tag = `"${hash("sha256", text, "base64url")}"`;
    const all = { ...headers, ETag: tag, "Cache-Control": `public, max-age=${MAX_AGE_SECONDS}` };
    server.get(path, (request: FastifyRequest, reply: FastifyReply) => {
      void reply.headers(all);
      if (isKnown(request.headers["if-none-match"], tag)) void reply.code(304).send();
      else void reply.send(body);
    });
  }
}

/** Whether one of the tags that a client names is this one; a proxy may have marked it as weak. */
function isKnown(named: string | undefined, tag: string): boolean {
  const tags = (named ?? "").split(",").map((one) => one.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(tag);
}
