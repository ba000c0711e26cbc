import { type NodeFront, startNodeFront } from "./node-front.ts";

interface Request {
  readonly method: string;
  readonly params: readonly unknown[];
}

type Told = Request | { readonly answer: unknown } | undefined;

/** What a proxy does to one JSON-RPC request, at once or after a while: other parameters, or an answer of its own. */
export type Lie = (request: Request) => Told | Promise<Told>;

/** A node's front that can be told to lie, to lag, to answer nonsense and to be gone. */
export interface LyingNode extends NodeFront {
  /** requests of a method since the start, each of a batch counted */
  requests(method: string): number;
  /** undefined: the truth */
  lie(how: Lie | undefined): void;
  /** instead of any answer; undefined: answers again */
  say(text: string | undefined): void;
  /** performed before the next HTTP request is passed on, once */
  before(next: () => Promise<unknown>): void;
}

/** A proxy in front of a real node. */
export async function startLyingNode(target: () => string): Promise<LyingNode> {
  let lie: Lie | undefined;
  let text: string | undefined;
  let before: (() => Promise<unknown>) | undefined;
  const requests: string[] = [];

  async function answer(body: string): Promise<string> {
    const run = before;
    before = undefined;
    await run?.();
    if (text !== undefined) return text;
    const parsed: unknown = JSON.parse(body);
    const asked = (Array.isArray(parsed) ? parsed : [parsed]) as (Request & { id: number })[];
    requests.push(...asked.map(({ method }) => method));
    const told = await Promise.all(asked.map(async (request) => ({ request, lie: await lie?.(request) })));
    const passed = told.map(({ request, lie: other }) =>
      other !== undefined && "method" in other ? { ...request, method: other.method, params: other.params } : request,
    );
    const response = await fetch(target(), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(passed),
    });
    const answers = (await response.json()) as { id: number }[];
    const lied = answers.map((one) => {
      const own = told.find(({ request }) => request.id === one.id)?.lie;
      return own !== undefined && "answer" in own ? { jsonrpc: "2.0", id: one.id, result: own.answer } : one;
    });
    return JSON.stringify(Array.isArray(parsed) ? lied : lied[0]);
  }

  const front = await startNodeFront(answer);
  return {
    ...front,
    requests: (method) => requests.filter((one) => one === method).length,
    lie: (how) => {
      lie = how;
    },
    say: (what) => {
      text = what;
    },
    before: (next) => {
      before = next;
    },
  };
}
