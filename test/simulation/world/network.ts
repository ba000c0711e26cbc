import { type BoundedRequest, type BoundedResponse, FetchError } from "../../../src/net/bounded-fetch.ts";
import type { Faults } from "../faults.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { SimChain } from "./chain.ts";
import { createWindowCount } from "./limits.ts";
import { answerMethod, NodeError, type NodeView } from "./node.ts";
import type { Receivers } from "./receivers.ts";
import { isRelay, type Relays } from "./relays.ts";
import type { SimService } from "./service.ts";

const SERVICE_HOST = "service.sim";

const SEND = "eth_sendRawTransaction";

/** An answer that reports the limit may be lost or late; by then one has come. */
const LEARNS_MS = 60_000;

/** the longest wait of a refusal in seconds, where no longer ones are drawn */
const LONGEST_USUAL_WAIT = 60;

/** One process's way to the network. What a dead process asked is done, and never answered. */
export interface Caller {
  isDead(): boolean;
  /** a request is about to leave, or has been answered and its answer is on the way back */
  at(instant: "leaves" | "arrived", label: string): void;
}

/** What hears of everything that reaches somebody outside. */
export interface NetworkListener {
  /** bytes, or signatures, leave: whether they arrive is another matter */
  sent(raw: string, host: string): void;
  handedOver(body: string): void;
  /** bytes have reached somebody */
  arrived(raw: string): void;
  called(host: string): void;
  /** so many calls came within a second in which the service allows fewer */
  overLimit(calls: number, limit: number): void;
  /** a call of the service leaves */
  asked(): void;
  /** one has come to its end for a process that lives: with what it was answered, if that was heard */
  answered(said: Handled | undefined): void;
}

export interface Handled {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The simulated network: endpoints of the chain at `rpc<n>.sim`, the service at `service.sim`, and all faults between. */
export interface SimNetwork {
  fetch(caller: Caller, request: BoundedRequest): Promise<BoundedResponse>;
  /** so many requests were made */
  asked(): number;
  /** The daemon has forgotten what limit it was reported, and learns it anew. */
  forgetLimit(): void;
}

/**
 * A full node keeps 128 or so, and not all say the same of an older one. A first check that takes longer than the states are
 * kept waits for a person's word: with a few blocks alone that would be most of them.
 */
const OLD_STATES: readonly Pick<NodeView, "keeps" | "saysOfOld">[] = [
  { keeps: Number.POSITIVE_INFINITY, saysOfOld: "" },
  { keeps: 128, saysOfOld: "missing trie node" },
  { keeps: 129, saysOfOld: "header not found" },
];

export function createNetwork(parts: {
  time: VirtualTime;
  chain: SimChain;
  service: SimService;
  relays: Relays;
  faults: Faults;
  receivers: Receivers;
  listener: NetworkListener;
}): SimNetwork {
  const { time, chain, service, relays, faults, receivers, listener } = parts;
  const limit = faults.chance.pick([8, 20, 50], "service limit");
  const window = createWindowCount(limit);
  let requests = 0;
  let answeredSinceMs: number | undefined;
  /** so many answers more are lost: the service refused a call */
  let silent = 0;

  const view = (host: string): NodeView => {
    const atMs = time.monotonicMs;
    return {
      lag: faults.lasts("node: lags", host, atMs)
        ? faults.chance.between(1, 3, "lag", host, Math.floor(atMs / 9_000))
        : 0,
      hidesReceipts: faults.lasts("node: no receipts", host, atMs),
      hidesLogs: faults.lasts("node: hides logs", host, atMs),
      swallows: faults.lasts("node: swallows", host, atMs),
      ...faults.chance.pick(OLD_STATES, "old states", host),
    };
  };
  const answerNode = (host: string, body: string): Handled => {
    const json = JSON.parse(body) as unknown;
    const one = (item: { id: number; method: string; params: readonly unknown[] }): unknown => {
      const { id, method, params } = item;
      if (method === SEND) listener.arrived(String(params[0]));
      try {
        const result = isRelay(host)
          ? relays.answer(host, method, params)
          : answerMethod(chain, view(host), method, params);
        return { jsonrpc: "2.0", id, result };
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        return { jsonrpc: "2.0", id, error: { code: error.code, message: error.message } };
      }
    };
    const answer = Array.isArray(json) ? json.map(one) : one(json as Parameters<typeof one>[0]);
    return { status: 200, headers: {}, text: JSON.stringify(answer) };
  };
  const answerService = (request: BoundedRequest): Handled => {
    const url = new URL(request.url);
    const left = window.count(time.trueMs);
    answeredSinceMs ??= time.monotonicMs;
    const isLearnt = time.monotonicMs - answeredSinceMs > LEARNS_MS;
    if (left < 0 && isLearnt && !faults.on.includes("service: doubled")) listener.overLimit(limit - left, limit);
    const isSure = faults.strikes("service: 429, then silent", url.pathname);
    if (isSure) silent = faults.chance.between(1, 3, "silent", requests);
    const refusedFor = left < 0 ? 1 : drawRefusal(faults, url.pathname, { requests, isSure });
    if (refusedFor !== undefined) {
      const headers = { ...limitHeaders(limit, Math.max(0, left), 1), "retry-after": String(refusedFor) };
      const status = refusedFor > LONGEST_USUAL_WAIT && requests % 2 === 0 ? 503 : 429;
      return { status, headers, text: '{"message":"rate limit"}' };
    }
    const limits = drawNoneLeft(faults, url.pathname, limit) ?? limitHeaders(limit, left, 1);
    const answer = service.answer(request.method ?? "GET", url, request.body);
    return { status: answer.status, headers: limits, text: JSON.stringify(answer.body) };
  };

  return {
    asked: () => requests,
    forgetLimit: () => {
      answeredSinceMs = undefined;
    },
    fetch: (caller, request) => {
      const { host, pathname } = new URL(request.url);
      const isService = host === SERVICE_HOST;
      const side = isService ? "service" : isRelay(host) ? "private" : "node";
      const label = isService ? pathname : `${host} ${methodsOf(request.body)}`;
      listener.called(host);
      if (receivers.owns(host)) return receivers.fetch(caller, request);
      if (isService) listener.asked();
      for (const raw of rawIn(request.body)) listener.sent(raw, host);
      if (isService && pathname === "/user-manager/execute-swap") listener.handedOver(request.body ?? "");
      requests += 1;
      caller.at("leaves", label);
      const isSilent = isService && silent > 0 && !faults.isOver;
      if (isSilent) silent -= 1;
      const trouble: Trouble = isSilent
        ? { kind: "answer lost" }
        : troubleOf(faults, { side, label, host, atMs: time.monotonicMs });
      const answer = (): Handled => {
        const handled = isService ? answerService(request) : answerNode(host, request.body ?? "{}");
        if (trouble.kind === "doubled") return isService ? answerService(request) : handled;
        if (trouble.kind === "refused") return { status: trouble.status, headers: {}, text: '{"message":"no"}' };
        return trouble.kind === "garbage" ? { ...handled, text: "<html>bad gateway</html>" } : handled;
      };
      const ended = (said: Handled | undefined): void => {
        if (isService) listener.answered(said);
      };
      return deliver({ time, caller, request, label, trouble, answer, ended, latencyMs: 3 + (requests % 7) });
    },
  };
}

type Trouble =
  | { readonly kind: "none" | "request lost" | "answer lost" | "doubled" | "garbage" }
  | { readonly kind: "late"; readonly byMs: number }
  | { readonly kind: "refused"; readonly status: number };

function troubleOf(
  faults: Faults,
  at: { side: "service" | "node" | "private"; label: string; host: string; atMs: number },
): Trouble {
  const { side, label } = at;
  if (faults.lasts(`${side}: away`, at.host, at.atMs)) return { kind: "request lost" };
  if (faults.strikes(`${side}: request lost`, label)) return { kind: "request lost" };
  if (faults.strikes(`${side}: answer lost`, label)) return { kind: "answer lost" };
  if (faults.strikes(`${side}: answer late`, label)) {
    return { kind: "late", byMs: faults.chance.between(500, 30_000, "late", label, Math.floor(at.atMs)) };
  }
  if (faults.strikes(`${side}: refused`, label)) {
    return { kind: "refused", status: faults.chance.pick([402, 429, 500, 502, 503], "status", label, at.atMs) };
  }
  if (faults.strikes(`${side}: garbage`, label)) return { kind: "garbage" };
  return { kind: side === "service" && faults.strikes("service: doubled", label) ? "doubled" : "none" };
}

/** The transactions that a body would have a node send. */
function rawIn(body: string | undefined): readonly string[] {
  if (body?.includes(SEND) !== true) return [];
  const calls = [JSON.parse(body)].flat() as readonly {
    readonly method: string;
    readonly params: readonly unknown[];
  }[];
  return calls.filter(({ method }) => method === SEND).map(({ params }) => String(params[0]));
}

/** For how many seconds the service refuses calls now, if it does. */
function drawRefusal(
  faults: Faults,
  path: string,
  { requests, isSure }: { readonly requests: number; readonly isSure: boolean },
): number | undefined {
  if (!isSure && !faults.strikes("service: 429", path)) return undefined;
  const usual = faults.chance.pick([1, 2, 5, 20, LONGEST_USUAL_WAIT], "retry after", requests);
  const isLong = faults.strikes("service: long wait", path);
  return isLong ? faults.chance.pick([90, 150], "long wait", requests) : usual;
}

/** An answer may say that nothing is left of a longer window, or that no calls are allowed at all for now. */
function drawNoneLeft(faults: Faults, path: string, limit: number): Readonly<Record<string, string>> | undefined {
  if (!faults.strikes("service: none left", path)) return undefined;
  const draw = faults.struck.get(`service: none left | ${path}`) ?? 0;
  const isClosed = faults.chance.of("no calls at all", path, draw) < 0.5;
  return limitHeaders(
    isClosed ? 0 : limit,
    0,
    faults.chance.pick(isClosed ? [1, 4, 30] : [4, 30], "reset", path, draw),
  );
}

function limitHeaders(limit: number, left: number, resetSeconds: number): Readonly<Record<string, string>> {
  return {
    ...{ "x-ratelimit-limit-second": String(limit), "ratelimit-limit": String(limit) },
    ...{ "x-ratelimit-remaining-second": String(left), "ratelimit-reset": String(resetSeconds) },
    "ratelimit-remaining": String(left),
  };
}

/** Which methods a body asks for, without reading it as a whole. */
function methodsOf(body: string | undefined): string {
  return /"method":"([A-Za-z0-9_]+)"/.exec(body ?? "")?.[1] ?? "nothing";
}

function deliver(call: {
  time: VirtualTime;
  caller: Caller;
  request: BoundedRequest;
  label: string;
  trouble: Trouble;
  answer(): Handled;
  /** hears of its end, if the caller lives to hear of it */
  ended(said: Handled | undefined): void;
  latencyMs: number;
}): Promise<BoundedResponse> {
  const { time, caller, request, label, trouble, answer, latencyMs } = call;
  const { host } = new URL(request.url);
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = (said: Handled | undefined, work: () => void): void => {
      if (isOver || caller.isDead()) return;
      isOver = true;
      call.ended(said);
      work();
    };
    const fail = (kind: FetchError["kind"], words: string): void =>
      end(undefined, () => reject(new FetchError(kind, host, words)));
    time.after(request.timeoutMs, () => fail("timeout", `no complete answer within ${request.timeoutMs} ms`));
    request.signal?.addEventListener("abort", () => fail("aborted", "the request was aborted"), { once: true });
    if (trouble.kind === "request lost") {
      // Half of them are refused at once, half are never heard of again.
      if (latencyMs % 2 === 0) time.after(latencyMs, () => fail("transport", "no complete answer (ECONNREFUSED)"));
      return;
    }
    time.after(latencyMs, () => {
      const handled = answer();
      caller.at("arrived", label);
      if (trouble.kind === "answer lost") {
        if (latencyMs % 2 === 0) fail("transport", "no complete answer (ECONNRESET)");
        return;
      }
      const backMs = latencyMs + (trouble.kind === "late" ? trouble.byMs : 0);
      time.after(backMs, () =>
        end(handled, () =>
          resolve({ status: handled.status, text: handled.text, header: (name) => handled.headers[name] ?? null }),
        ),
      );
    });
  });
}
