import { type Address, type Hex, parseAddress } from "../../domain/money/address.ts";
import { SigningError } from "../../domain/signing-error.ts";
import type { BoundedFetch } from "../../net/bounded-fetch.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Signer } from "../../ports/signer.ts";
import { createPatience, type Hears } from "./patience.ts";
import { askedTypedData, judgeSignature } from "./signature.ts";
import { askedTransaction, judgeTransaction } from "./signed-transaction.ts";
import { createSignerCalls, type SignerCallOptions } from "./signer-calls.ts";
import { WORTHLESS_TYPED_DATA, worthlessTransaction } from "./worthless.ts";

/** A signer elsewhere, and the account that it signs for. */
export interface RemoteSignerOptions extends SignerCallOptions {
  readonly address: Address;
}

/** What it works with. */
export interface RemoteSignerDeps {
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
  readonly fetch: BoundedFetch;
  /** told of what came of each signature that was asked for */
  readonly hears?: Hears | undefined;
}

/** A signer that holds its key elsewhere. */
export interface RemoteSigner extends Signer {
  /** Asks for its accounts, and for no signature. @returns why it cannot sign for the account; undefined: it lists it */
  whyUnable(): Promise<SigningError | undefined>;
  /**
   * Asks for signatures of what is worth nothing: typed data of no contract, and a transaction without gas, which no block
   * can hold. The only way to learn for which chain it signs.
   */
  tryOut(chainId: number): Promise<SigningError | undefined>;
}

/**
 * A signer with web3signer's interface (JSON-RPC). Whatever it answers is held against what was asked before anything else
 * sees it: its bytes have to be ours with a signature of the account. It never sends: nonces and sending are the lane's.
 */
export function createRemoteSigner(options: RemoteSignerOptions, deps: RemoteSignerDeps): RemoteSigner {
  const { address } = options;
  const calls = createSignerCalls(options, deps.fetch);
  const patience = createPatience(deps.clock, deps.hears ?? (() => undefined));
  const differs = (detail: string): SigningError =>
    new SigningError("different", `the signer at ${calls.host}: ${detail}`);
  const transactionOf = async (fields: Parameters<Signer["signTransaction"]>[0]): Promise<{ raw: Hex; hash: Hex }> => {
    const answer = await calls.call("eth_signTransaction", [askedTransaction(fields, address)]);
    const judged = judgeTransaction(answer, fields, address);
    if (judged.kind === "different") throw differs(judged.detail);
    return { raw: judged.raw, hash: judged.hash };
  };
  const signatureOf = async ({ payload, digest }: ReturnType<typeof askedTypedData>): Promise<Hex> => {
    const judged = judgeSignature(await calls.call("eth_signTypedData", [address, payload]), digest, address);
    if (judged.kind === "different") throw differs(judged.detail);
    return judged.signature;
  };
  return {
    address,
    signTransaction: async (fields) =>
      await patience.answerOf(JSON.stringify(askedTransaction(fields, address)), () => transactionOf(fields)),
    signTypedData: async (typedData) => {
      const asked = askedTypedData(typedData);
      return await patience.answerOf(asked.digest, () => signatureOf(asked));
    },
    whyUnable: () => troubleOf(async () => unlisted(await calls.call("eth_accounts", []), options, calls.host)),
    tryOut: (chainId) =>
      troubleOf(async () => {
        await signatureOf(askedTypedData(WORTHLESS_TYPED_DATA));
        await transactionOf(worthlessTransaction(address, chainId));
        return undefined;
      }),
  };
}

/** Its trouble as a value. @throws everything else */
async function troubleOf(work: () => Promise<SigningError | undefined>): Promise<SigningError | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SigningError) return error;
    throw error;
  }
}

function unlisted(accounts: unknown, { address }: RemoteSignerOptions, host: string): SigningError | undefined {
  if (!Array.isArray(accounts)) return new SigningError("away", `the signer at ${host} lists no accounts`);
  if (accounts.some((one) => typeof one === "string" && parseAddress(one) === address)) return undefined;
  const has = accounts.length === 0 ? "no key at all" : `${accounts.length} keys`;
  return new SigningError("refused", `the signer at ${host} has ${has}, and none of ${address}`);
}
