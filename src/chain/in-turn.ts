import { ChainReadError } from "../domain/chain-read-error.ts";
import type { EndpointHealth } from "./endpoint-health.ts";
import { RpcError, type RpcRequest } from "./json-rpc.ts";
import { classOf } from "./node-errors.ts";

/** Those that are well first; among equals the configured order. */
export function inOrder<Member extends Pick<EndpointHealth, "rank">>(
  endpoints: readonly Member[],
  ability?: string,
): readonly Member[] {
  const ranked = endpoints.map((endpoint) => ({ endpoint, rank: endpoint.rank(ability) }));
  return ranked.sort((left, right) => left.rank - right.rank).map(({ endpoint }) => endpoint);
}

/** Why an endpoint had no answer, where another one may have it. */
export type Failure = RpcError | ChainReadError;

/** What came of asking one endpoint after the other. */
export type InTurn<Answer> =
  | { readonly kind: "enough"; readonly answer: Answer }
  /** `hasAnswered`: an endpoint answered, and it was not enough */
  | { readonly kind: "not enough"; readonly hasAnswered: boolean; readonly failures: readonly Failure[] };

export interface Question<Answer> {
  /** whether another endpoint may answer where this one said so */
  mayOther(error: RpcError): boolean;
  /** default: every answer is */
  isEnough?(answer: Answer): boolean;
  /** whether the answer is not waited for any more */
  isOver?(): boolean;
}

/** Asks until an answer is enough. @throws what every endpoint would say, and faults of our own */
export async function askInTurn<Member, Answer>(
  endpoints: readonly Member[],
  question: Question<Answer>,
  ask: (endpoint: Member) => Promise<Answer>,
): Promise<InTurn<Answer>> {
  const failures: Failure[] = [];
  let hasAnswered = false;
  for (const endpoint of endpoints) {
    try {
      const answer = await ask(endpoint);
      if (question.isEnough?.(answer) !== false) return { kind: "enough", answer };
      hasAnswered = true;
    } catch (error) {
      failures.push(asFailure(error, question));
      if (question.isOver?.() === true) break;
    }
  }
  return { kind: "not enough", hasAnswered, failures };
}

/** @throws what no other endpoint can better */
function asFailure(error: unknown, question: Pick<Question<unknown>, "mayOther">): Failure {
  if (error instanceof ChainReadError) return error;
  if (error instanceof RpcError && question.mayOther(error)) return error;
  throw error;
}

/**
 * Whether another endpoint may answer where this one did not. A contract reverts everywhere. One that uses up the gas that
 * the call itself grants does so everywhere; where the node sets the bound another one may grant more.
 */
export function mayOtherAnswer(error: RpcError, { params: [call] }: RpcRequest): boolean {
  const kind = classOf(error);
  const grantsGas = typeof call === "object" && call !== null && "gas" in call;
  return kind === "out-of-gas" ? !grantsGas : kind !== "reverted";
}
