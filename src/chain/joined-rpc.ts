import type { EndpointHealth } from "./endpoint-health.ts";
import { askInTurn, inOrder, mayOtherAnswer, type Question } from "./in-turn.ts";
import { type JsonRpc, RpcError } from "./json-rpc.ts";

/** One endpoint of several. */
export interface Member extends Pick<EndpointHealth, "rank"> {
  readonly rpc: JsonRpc;
}

/**
 * Several endpoints as one: each question goes to the first that is well, and where that does not answer to the next.
 * @param options.host what is shown of them
 * @param options.prove checks an endpoint before it is asked; what it throws is why it is not asked
 */
export function joinRpcs<One extends Member>(
  members: readonly One[],
  options: { host(): string; prove(member: One): Promise<void> },
): JsonRpc {
  /** @throws RpcError, what the first of them said */
  async function firstAnswer<Answer>(question: Question<Answer>, ask: (rpc: JsonRpc) => Promise<Answer>) {
    const result = await askInTurn(inOrder(members), question, async (member) => {
      await options.prove(member);
      return ask(member.rpc);
    });
    if (result.kind === "enough") return result.answer;
    throw result.failures[0];
  }

  return {
    get host() {
      return options.host();
    },
    call(method, params, signal) {
      const mayOther = (error: RpcError) => mayOtherAnswer(error, { method, params });
      const isOver = () => signal?.aborted === true;
      return firstAnswer({ mayOther, isOver }, (rpc) => rpc.call(method, params, signal));
    },
    async batch(requests, signal) {
      let partial: readonly unknown[] | undefined;
      // What stands in an answer's place is judged with its request.
      const question = { mayOther: () => true, isOver: () => signal?.aborted === true };
      const whole = firstAnswer(question, async (rpc) => {
        const answers = await rpc.batch(requests, signal);
        const refused = requests
          .map((request, index) => ({ request, answer: answers[index] }))
          .find(({ request, answer }) => answer instanceof RpcError && mayOtherAnswer(answer, request));
        if (refused === undefined) return answers;
        partial ??= answers;
        throw refused.answer;
      });
      return await whole.catch((error: unknown) => {
        if (partial === undefined || !(error instanceof RpcError)) throw error;
        return partial;
      });
    },
  };
}
