import { type NodeFront, startNodeFront } from "./node-front.ts";

interface Request {
  readonly method: string;
  readonly params: readonly unknown[];
}

type Reported = Request | { readonly answer: unknown } | undefined;

/** What a proxy does to one JSON-RPC request, at once or after a while: other parameters, or an answer of its own. */
export type Lie = (request: Request) => Reported | Promise<Reported>;

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
  /**
   * Performs something while no request is under way. Anvil needs that around each new block: while it makes one it
   * answers for the block before, by its hash, with the state of the one that is being made; a real node does not.
   */
  alone<T>(change: () => Promise<T>): Promise<T>;
}

/** A proxy in front of a real node. */
export async function startLyingNode(target: () => string): Promise<LyingNode> {
  let lie: Lie | undefined;
  let text: string | undefined;
  let before: (() => Promise<unknown>) | undefined;
  const requests: string[] = [];
  const underWay = new Set<Promise<unknown>>();
  let held: Promise<unknown> | undefined;

  async function alone<T>(change: () => Promise<T>): Promise<T> {
    while (held !== undefined) await held.catch(() => undefined);
    const changing = Promise.allSettled(underWay).then(change);
    held = changing;
    try {
      return await changing;
    } finally {
      held = undefined;
    }
  }

  async function pass(body: string): Promise<{ id: number }[]> {
    while (held !== undefined) await held.catch(() => undefined);
    const headers = { "content-type": "application/json" };
    const passing = fetch(target(), { method: "POST", headers, body }).then((response) => response.json());
    underWay.add(passing);
    try {
      return (await passing) as { id: number }[];
    } finally {
      underWay.delete(passing);
    }
  }

  async function answer(body: string): Promise<string> {
    const run = before;
    before = undefined;
    await run?.();
    if (text !== undefined) return text;
    const parsed: unknown = JSON.parse(body);
    const asked = (Array.isArray(parsed) ? parsed : [parsed]) as (Request & { id: number })[];
    requests.push(...asked.map(({ method }) => method));
    const reported = await Promise.all(asked.map(async (request) => ({ request, lie: await lie?.(request) })));
    const passed = reported.map(({ request, lie: other }) =>
      other !== undefined && "method" in other ? { ...request, method: other.method, params: other.params } : request,
    );
    const answers = await pass(JSON.stringify(passed));
    const lied = answers.map((one) => {
      const own = reported.find(({ request }) => request.id === one.id)?.lie;
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
    alone,
  };
}
