import type { FastifyRequest } from "fastify";

/** Whether who asks can unpack an answer. */
export function takesGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b/.test(String(headers["accept-encoding"] ?? ""));
}
