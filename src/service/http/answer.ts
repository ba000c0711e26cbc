import type { Refusal } from "../errors/errors.ts";

/** What an endpoint answers with success. */
export interface Answer {
  readonly kind: "answer";
  readonly body: object;
}

export function answer(body: object): Answer {
  return { kind: "answer", body };
}

export function isRefusal(value: object): value is Refusal {
  return "kind" in value && value.kind === "refused";
}
