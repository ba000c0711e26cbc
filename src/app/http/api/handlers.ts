import type { z } from "zod";
import type { Access } from "../../../ports/access.ts";
import type { AnswerOf, OPERATIONS, OperationId } from "./operations.ts";

type QueryOf<Id extends OperationId> = (typeof OPERATIONS)[Id] extends { readonly query: infer Query extends z.ZodType }
  ? z.output<Query>
  : Readonly<Record<string, never>>;
type BodyOf<Id extends OperationId> = (typeof OPERATIONS)[Id] extends { readonly body: infer Body extends z.ZodType }
  ? z.output<Body>
  : undefined;

/** What was asked for, as the table says that it is. */
export interface Asked<Id extends OperationId> {
  /** the part of the path that is in braces; empty where there is none */
  readonly id: string;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  /** undefined: nobody that is known */
  readonly caller: Access | undefined;
  /** the header Idempotency-Key */
  readonly key: string | undefined;
}

/** One handler an operation; those that touch cookies stand beside the routes. */
export type Handlers<Ids extends OperationId> = {
  readonly [Id in Ids]: (asked: Asked<Id>) => Promise<AnswerOf<Id>>;
};
