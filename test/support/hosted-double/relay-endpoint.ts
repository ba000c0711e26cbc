import { randomUUID } from "node:crypto";
import { type JsonRpcProvider, recoverAddress, Signature, type Wallet } from "ethers";
import type { Fault } from "./faults.ts";
import { HttpProblem } from "./http-problem.ts";
import { type PackedPermit, packCall } from "./packed-call.ts";
import type { DoubleQuote } from "./quote-endpoint.ts";
import { digestOf } from "./swap-message.ts";

/** A gasless swap that was submitted. */
export interface RelayedSwap {
  readonly id: string;
  readonly quoteId: string;
  readonly wallet: string;
  hash: string | null;
  status: "pending" | "success" | "error";
}

const GAS_LIMIT = 500_000n;

/** Sends gasless swaps with its own key and pays for them. The same body submitted twice is executed twice. */
export class RelayEndpoint {
  readonly #relayer: Wallet;
  readonly #provider: JsonRpcProvider;
  readonly #chainId: number;
  readonly #lateMs: number;
  readonly #swaps: RelayedSwap[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #sending: Promise<void> = Promise.resolve();

  constructor(parts: { relayer: Wallet; provider: JsonRpcProvider; chainId: number; lateMs: number }) {
    this.#relayer = parts.relayer;
    this.#provider = parts.provider;
    this.#chainId = parts.chainId;
    this.#lateMs = parts.lateMs;
  }

  /**
   * Takes a swap and sends it, now or late. Resolves when the transaction is in the pool, or failed to get there.
   * @throws HttpProblem when the signature is not the owner's
   */
  async take(quote: DoubleQuote, body: Readonly<Record<string, unknown>>, fault: Fault): Promise<RelayedSwap> {
    const data = this.#callFor(quote, body);
    const swap: RelayedSwap = {
      id: randomUUID(),
      quoteId: quote.id,
      wallet: quote.owner ?? "",
      hash: null,
      status: "pending",
    };
    this.#swaps.push(swap);
    if (fault === "late") {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        void this.#send(swap, quote.message.router, data);
      }, this.#lateMs);
      this.#timers.add(timer);
    } else {
      await this.#send(swap, quote.message.router, data);
    }
    return swap;
  }

  /** The newest swap with this id, quote or hash, its status refreshed. */
  async find(query: {
    quoteId: string | null;
    hash: string | null;
    id: string | null;
  }): Promise<RelayedSwap | undefined> {
    const swap = this.#swaps.findLast(
      (each) => each.quoteId === query.quoteId || each.id === query.id || (each.hash ?? "") === query.hash,
    );
    if (swap !== undefined) await this.#refresh(swap);
    return swap;
  }

  async counts(wallet: string): Promise<Record<RelayedSwap["status"], number>> {
    const counts = { pending: 0, success: 0, error: 0 };
    for (const swap of this.#swaps.filter((each) => each.wallet === wallet)) {
      await this.#refresh(swap);
      counts[swap.status]++;
    }
    return counts;
  }

  /** Drops what was to be executed late, and waits for what is being sent. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#sending;
  }

  #callFor(quote: DoubleQuote, body: Readonly<Record<string, unknown>>): string {
    const { swapSignature, permitSignature, permitDeadline } = body;
    const signature = signatureOf(swapSignature, "swapSignature");
    const digest = digestOf(quote.message, this.#chainId);
    if (recoverAddress(digest, signature).toLowerCase() !== quote.owner) {
      throw new HttpProblem(400, 2020, "swapSignature is not the wallet's");
    }
    const permit = permitSignature === undefined ? undefined : permitOf(permitSignature, permitDeadline);
    return packCall("user", quote.message, { signature, permit });
  }

  /** One after the other, so that each takes its own nonce. */
  async #send(swap: RelayedSwap, router: string, data: string): Promise<void> {
    const send = async (): Promise<void> => {
      try {
        const nonce = await this.#provider.getTransactionCount(this.#relayer.address, "pending");
        const sent = await this.#relayer.sendTransaction({ to: router, data, gasLimit: GAS_LIMIT, nonce });
        swap.hash = sent.hash;
      } catch (error) {
        swap.status = "error";
        if (!(error instanceof Error)) throw error;
      }
    };
    this.#sending = this.#sending.then(send);
    await this.#sending;
  }

  async #refresh(swap: RelayedSwap): Promise<void> {
    if (swap.hash === null || swap.status !== "pending") return;
    const receipt = await this.#provider.getTransactionReceipt(swap.hash);
    if (receipt !== null) swap.status = receipt.status === 1 ? "success" : "error";
  }
}

function signatureOf(value: unknown, name: string): Signature {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{130}$/.test(value)) {
    throw new HttpProblem(400, 1001, `${name} must be a signature`);
  }
  return Signature.from(value);
}

function permitOf(value: unknown, deadline: unknown): PackedPermit {
  const { v, r, s } = signatureOf(value, "permitSignature");
  if (typeof deadline !== "number" || !Number.isSafeInteger(deadline)) {
    throw new HttpProblem(400, 1001, "permitDeadline must be an integer");
  }
  return { v, r, s, deadline: BigInt(deadline) };
}
