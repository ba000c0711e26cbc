import { Transaction } from "ethers";
import { readBody, startHttpServer } from "./http-server.ts";

/** How a relay behaves. */
export interface RelayManners {
  /** nobody answers */
  isAway: boolean;
  /** it takes everything, and no block ever has it */
  keeps: boolean;
  /** blocks after which it forgets what it was sent, as those do that say so */
  dropsAfterBlocks: number;
}

/** A relay that takes transactions without showing them to anybody, in front of a node that mines what it is handed. */
export interface PrivateRelay {
  readonly url: string;
  readonly manners: RelayManners;
  /** raw transactions that it was sent, oldest first */
  readonly sent: readonly string[];
  /** methods that it was asked for, apart from sending and its chain id */
  readonly reads: readonly string[];
  /** Hands what it holds to the node: the next block has it. What it was sent first at a nonce stays with it. */
  handOver(): Promise<void>;
}

/**
 * Starts a relay. It answers its chain id, takes raw transactions, and answers nothing else: neither whether it has a
 * transaction nor how many of an account wait, as relays do that show both to the sender's signature alone.
 */
export async function startPrivateRelay(target: string): Promise<PrivateRelay> {
  const manners: RelayManners = { isAway: false, keeps: false, dropsAfterBlocks: 25 };
  const [sent, reads]: [string[], string[]] = [[], []];
  const held = new Map<string, { readonly raw: string; readonly fee: bigint; readonly block: number }>();

  const take = async (raw: string): Promise<string> => {
    sent.push(raw);
    const { from, nonce, maxFeePerGas, hash } = Transaction.from(raw);
    const key = `${from} ${nonce}`;
    const fee = maxFeePerGas ?? 0n;
    const block = Number(await ask(target, "eth_blockNumber", []));
    if (fee >= (held.get(key)?.fee ?? 0n)) held.set(key, { raw, fee, block });
    return hash ?? "";
  };
  const answer = async ({ method, params }: { method: string; params: readonly unknown[] }): Promise<unknown> => {
    if (method === "eth_chainId") return ask(target, method, []);
    if (method === "eth_sendRawTransaction") return take(String(params[0]));
    reads.push(method);
    return null;
  };
  const { url } = await startHttpServer((request, response) => {
    readBody(request)
      .then(async (body) => {
        if (manners.isAway) return void response.writeHead(502).end("bad gateway");
        const call = JSON.parse(body);
        const result = await answer(call);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: call.id, result }));
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  return {
    ...{ url, manners, sent, reads },
    handOver: async () => {
      const block = Number(await ask(target, "eth_blockNumber", []));
      for (const [key, one] of held) {
        if (block - one.block >= manners.dropsAfterBlocks) held.delete(key);
        else if (!manners.keeps && !manners.isAway) {
          held.delete(key);
          await ask(target, "eth_sendRawTransaction", [one.raw]);
        }
      }
    },
  };
}

async function ask(target: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const { result } = (await (await fetch(target, { method: "POST", headers, body })).json()) as { result: unknown };
  return result;
}
