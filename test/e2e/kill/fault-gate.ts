import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Transaction } from "ethers";
import { z } from "zod";
import { seededRandom } from "./kill-plan.ts";
import { after } from "./processes.ts";

/** What can happen to a call on its way. */
export const GATE_FAULTS = ["lost before", "lost after", "bad gateway", "refused, then lost", "late", "cut"] as const;
export type GateFault = (typeof GATE_FAULTS)[number];

/** A door in front of a server, which loses, delays and refuses calls, and lets all pass while it is calm. */
export interface FaultGate {
  readonly url: string;
  /** how often each fault was done */
  readonly done: Readonly<Record<GateFault, number>>;
  /** raw transactions that were sent here, whether they arrived or not */
  readonly sent: ReadonlySet<string>;
  /** @param share of the calls that something happens to, 0 to 1 */
  trouble(share: number): void;
  /** @param share of the transactions that are taken and passed on to nobody, 0 to 1 */
  keep(share: number): void;
  close(): Promise<void>;
}

const SENT = /"eth_sendRawTransaction","params":\["(0x[0-9a-f]+)"/g;
const LATE_MS = { least: 200, most: 1_800 };

/** Opens a gate on a free port. The faults follow from the seed and the order of the calls. */
export async function openFaultGate(target: () => string, seed: number): Promise<FaultGate> {
  const random = seededRandom(seed);
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const done = Object.fromEntries(GATE_FAULTS.map((fault) => [fault, 0])) as Record<GateFault, number>;
  const sent = new Set<string>();
  let share = 0;
  let keptShare = 0;
  let isNextLost = false;

  function draw(): GateFault | undefined {
    if (share === 0) return undefined;
    if (isNextLost) {
      isNextLost = false;
      return "lost after";
    }
    if (random() >= share) return undefined;
    return GATE_FAULTS[Math.floor(random() * GATE_FAULTS.length)];
  }

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(incoming);
    for (const [, raw = ""] of body.toString("utf8").matchAll(SENT)) sent.add(raw);
    const kept = keptShare > 0 && random() < keptShare ? sendOf(body) : undefined;
    if (kept !== undefined) {
      const answer = { jsonrpc: "2.0", id: kept.id, result: Transaction.from(kept.params[0]).hash };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    }
    const fault = draw();
    if (fault !== undefined) done[fault] += 1;
    if (fault === "lost before") return void incoming.socket.destroy();
    if (fault === "bad gateway") return void response.writeHead(502, { "content-type": "text/html" }).end("<html>");
    if (fault === "refused, then lost") {
      // One refusal for too many calls, and the answer to the next call never comes.
      isNextLost = true;
      const headers = { "content-type": "application/json", "retry-after": "1" };
      return void response.writeHead(429, headers).end('{"message":"API rate limit exceeded"}');
    }
    const answer = await forward(agent, target(), { incoming, body });
    if (fault === "late") await after(LATE_MS.least + random() * (LATE_MS.most - LATE_MS.least));
    if (fault === "lost after") return void incoming.socket.destroy();
    const text = fault === "cut" ? answer.body.subarray(0, answer.body.length / 2) : answer.body;
    response.writeHead(answer.status, answer.headers);
    response.end(text);
  }

  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => {
      // The server behind is being killed itself: its caller sees a connection that breaks.
      incoming.socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    done,
    sent,
    trouble: (next) => {
      share = next;
      isNextLost = false;
    },
    keep: (next) => {
      keptShare = next;
    },
    close: async () => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const send = z.object({
  ...{ id: z.union([z.number(), z.string()]), method: z.literal("eth_sendRawTransaction") },
  params: z.tuple([z.string()]),
});

/** A call that hands one transaction over. */
function sendOf(body: Buffer): z.output<typeof send> | undefined {
  const call: unknown = JSON.parse(body.toString("utf8"));
  return send.safeParse(call).data;
}

interface Forwarded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** Headers that belong to one connection. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "host"]);

function forward(
  agent: Agent,
  target: string,
  { incoming, body }: { incoming: IncomingMessage; body: Buffer },
): Promise<Forwarded> {
  const url = new URL(incoming.url ?? "/", target);
  const headers = { ...endToEnd(incoming.headers), "content-length": String(body.length) };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { agent, method: incoming.method ?? "GET", headers }, (answer) => {
      readAll(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 502, headers: endToEnd(answer.headers), body: text }),
        reject,
      );
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

function endToEnd(headers: IncomingMessage["headers"]): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(([name, value]) => !HOP_BY_HOP.has(name) && value !== undefined);
  return Object.fromEntries(kept) as Record<string, string | string[]>;
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
