import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import {
  computeAddress,
  type Signature,
  type SignatureLike,
  SigningKey,
  Transaction,
  type TransactionLike,
  TypedDataEncoder,
} from "ethers";
import { readBody } from "../http-server.ts";
import { randomSignature, withHighS } from "./random-signature.ts";

/** What was asked of it, as it came. */
export interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly headers: IncomingMessage["headers"];
}

/** What it does besides what it should; all of it may be changed while it runs. */
export interface Misbehaviour {
  /** called before it answers: it may wait for ever */
  before?: (method: string) => Promise<unknown> | undefined;
  /** signs another transaction than it was asked for */
  alter?: (asked: TransactionLike<string>) => TransactionLike<string>;
  /** signs with this key, whoever was asked for */
  key?: string;
  highS?: boolean;
  /** answers this in place of its own; undefined: its own */
  answer?: (method: string, own: Answer) => Answer | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A double of web3signer in its eth1 mode, built from its documentation and source: real HTTP, keys of its own. */
export interface SignerDouble {
  readonly url: string;
  readonly port: number;
  readonly asked: Asked[];
  misbehave: Misbehaviour;
  stop(): Promise<void>;
}

export interface SignerDoubleOptions {
  /** it signs for this chain, whatever a request says */
  readonly chainId: number;
  readonly keys: readonly string[];
  /** false: each signature draws a number at random. Default: true */
  readonly isDeterministic?: boolean;
  readonly port?: number;
  readonly tls?: ServerOptions;
}

/** Starts it on the loopback interface; whoever starts it stops it. */
export async function startSignerDouble(options: SignerDoubleOptions): Promise<SignerDouble> {
  const asked: Asked[] = [];
  const double = { asked, misbehave: {} as Misbehaviour };
  const handle: RequestListener = (request, response) => {
    answerTo(request, options, double)
      .then((answer) => send(response, answer))
      .catch((error: unknown) => send(response, { status: 500, body: String(error) }));
  };
  const server = options.tls === undefined ? createServer(handle) : createTlsServer(options.tls, handle);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(double, {
    ...{ port, url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}` },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(status, { content: "application/json", ...headers });
  response.end(body);
}

class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function answerTo(
  request: IncomingMessage,
  options: SignerDoubleOptions,
  double: Pick<SignerDouble, "asked" | "misbehave">,
): Promise<Answer> {
  const text = await readBody(request);
  const { id, method, params } = JSON.parse(text) as { id: unknown; method: string; params: readonly unknown[] };
  double.asked.push({ method, params, headers: request.headers });
  const own = answerOf(id, () => resultOf({ method, params }, options, double.misbehave));
  const { before, answer } = double.misbehave;
  await before?.(method);
  return answer?.(method, own) ?? own;
}

function answerOf(id: unknown, work: () => unknown): Answer {
  try {
    return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result: work() }) };
  } catch (error) {
    const { status, code, message } = error instanceof Refusal ? error : new Refusal(500, -32603, "Internal error");
    return { status, body: JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }) };
  }
}

function resultOf(
  { method, params }: Pick<Asked, "method" | "params">,
  { keys, chainId, isDeterministic = true }: SignerDoubleOptions,
  misbehave: Misbehaviour,
): unknown {
  const sign = (from: unknown, digest: string): SignatureLike => {
    const own = keys.find((key) => computeAddress(key).toLowerCase() === String(from).toLowerCase());
    if (own === undefined) throw new Refusal(200, -32000, "No unlocked account matches the Sender");
    const key = misbehave.key ?? own;
    const made: Signature = isDeterministic ? new SigningKey(key).sign(digest) : randomSignature(key, digest);
    return misbehave.highS === true ? withHighS(made) : made;
  };
  if (method === "eth_accounts") return keys.map((key) => computeAddress(key).toLowerCase()).sort();
  if (method === "eth_signTransaction") return signedTransaction(params, { chainId, sign, ...misbehave });
  if (method !== "eth_signTypedData") throw new Refusal(200, -32601, `the double was asked for ${method}`);
  const [from, data] = params;
  // web3signer before 25.9.0 reads typed data as JSON in a string, and fails with an object; later ones read both.
  if (typeof data !== "string") throw new Error("typed data is no string");
  const { r, s, yParity } = sign(from, digestOf(JSON.parse(data))) as { r: string; s: string; yParity: 0 | 1 };
  return `${r}${s.slice(2)}${(27 + yParity).toString(16)}`;
}

/** Reads what web3signer reads, one parameter; a chain id is not among it. */
function signedTransaction(
  params: readonly unknown[],
  {
    chainId,
    sign,
    alter = (one) => one,
  }: { chainId: number; sign: (from: unknown, digest: string) => SignatureLike } & Misbehaviour,
): string {
  const [asked, ...others] = params as readonly Readonly<Record<string, string>>[];
  if (asked === undefined || others.length > 0 || asked.nonce === undefined || asked.from === undefined)
    throw new Refusal(400, -32602, "Invalid params");
  const { from, nonce, gas, to, value, data, maxFeePerGas, maxPriorityFeePerGas } = asked;
  const fields: TransactionLike<string> = {
    ...{ type: 2, chainId, nonce: Number(nonce), gasLimit: gas ?? "0x0", to: to ?? null, value: value ?? "0x0" },
    ...{ data: data ?? "0x", maxFeePerGas: maxFeePerGas ?? "0x0", maxPriorityFeePerGas: maxPriorityFeePerGas ?? "0x0" },
  };
  const transaction = Transaction.from(alter(fields));
  const signature = sign(from, transaction.unsignedHash);
  return withSignature(transaction, signature as { r: string; s: string; yParity: 0 | 1 });
}

/** The library takes no high s, so its bytes are put there by hand. */
function withSignature(transaction: Transaction, { r, s, yParity }: { r: string; s: string; yParity: 0 | 1 }): string {
  const isHigh = BigInt(s) > 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
  if (!isHigh) {
    transaction.signature = { r, s, yParity };
    return transaction.serialized;
  }
  const marker = `0x${"11".repeat(32)}`;
  transaction.signature = { r, s: marker, yParity };
  return transaction.serialized.replace(`a0${marker.slice(2)}`, `a0${s.slice(2)}`);
}

function digestOf(data: {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, { name: string; type: string }[]>>;
  readonly message: Readonly<Record<string, unknown>>;
}): string {
  const { EIP712Domain: _, ...types } = data.types;
  return TypedDataEncoder.hash({ ...data.domain }, types, { ...data.message });
}
