import type { RemoteSigner } from "../adapters/remote-signer/remote-signer.ts";
import type { SigningError } from "../domain/signing-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { Signer } from "../ports/signer.ts";
import type { RelayerSignerState } from "../service/relayer/relayer-state.ts";
import { BELIEVED_MS, LOOK_AGAIN_MS, LOOK_MS } from "./watch-signers.ts";

/** Watches over the signer elsewhere of a service's relayer. */
export interface RelayerSignerWatch extends RelayerSignerState {
  /** What came of a signature that it was asked for. */
  heard(trouble: SigningError | undefined): void;
  /** Asks it for its accounts again and again, until the watch ends. It asks for no signature. */
  keepLooking(signer: RemoteSigner): Promise<void>;
  stop(): void;
}

/** Whether a signer is elsewhere. One that is made to sign nothing is not. */
export function isElsewhere(signer: Signer): signer is RemoteSigner {
  return "whyUnable" in signer;
}

export function watchRelayerSigner(clock: Pick<Clock, "monotonicMs" | "sleep">): RelayerSignerWatch {
  const stopping = new AbortController();
  let looked: SigningError | undefined;
  let signed: { readonly trouble: SigningError; readonly atMs: number } | undefined;
  return {
    absence: () => looked?.message,
    trouble: () => (looked ?? signed?.trouble)?.message,
    heard: (trouble) => {
      signed = trouble && { trouble, atMs: clock.monotonicMs() };
    },
    keepLooking: async (signer) => {
      while (!stopping.signal.aborted) {
        looked = await signer.whyUnable();
        if (signed !== undefined && clock.monotonicMs() - signed.atMs >= BELIEVED_MS) signed = undefined;
        await clock.sleep(looked === undefined ? LOOK_MS : LOOK_AGAIN_MS, stopping.signal);
      }
    },
    stop: () => stopping.abort(),
  };
}
