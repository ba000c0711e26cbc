import type { RemoteSigner } from "../adapters/remote-signer/remote-signer.ts";
import { type Alert, SUBJECT } from "../domain/run/alert.ts";
import type { SigningError } from "../domain/signing-error.ts";
import { type AlertDeps, raiseChange, writeAndNotify } from "../engine/alerts.ts";
import type { Change } from "../ports/changes.ts";

/** How often a signer is asked for its accounts, so that one that is away is noticed before a slot needs it. */
export const LOOK_MS = 60_000;
export const LOOK_AGAIN_MS = 10_000;
/** One that lists its accounts and does not sign is away all the same: so long a look does not end what a signature found. */
export const BELIEVED_MS = 600_000;

/** Watches over the signers elsewhere: an alert while one does not sign, and another while it signs something else. */
export interface SignerWatch {
  /** What came of a signature that a wallet's signer was asked for. */
  heard(wallet: string, trouble: SigningError | undefined): Promise<void>;
  /** Asks each for its accounts again and again, until the watch ends. It asks for no signature. */
  keepLooking(signers: ReadonlyMap<string, RemoteSigner>): Promise<void>;
  stop(): void;
}

/** Creates the watch. Alerts are written where they change something, and once. */
export function watchSigners(deps: AlertDeps): SignerWatch {
  const stopping = new AbortController();
  const { signal } = stopping;
  const said = new Map<string, string>();
  const worded = new Map<string, { readonly text: string; readonly atMs: number }>();
  const failedAtMs = new Map<string, number>();
  const write = async (key: string, words: string, changes: readonly Change[]): Promise<void> => {
    if (signal.aborted || said.get(key) === words) return;
    said.set(key, words);
    await writeAndNotify(deps, changes);
  };
  /** What it says now: a signer that hung may have lost its key meanwhile. At most once a minute, for words may hold numbers. */
  const reword = async (alert: Pick<Alert, "subject" | "code" | "text">): Promise<void> => {
    const last = worded.get(alert.subject);
    const atMs = deps.clock.monotonicMs();
    if (signal.aborted || last?.text === alert.text || (last !== undefined && atMs - last.atMs < LOOK_MS)) return;
    worded.set(alert.subject, { text: alert.text, atMs });
    await writeAndNotify(deps, [{ kind: "alert-reworded", alert }]);
  };
  const away = async (wallet: string, trouble: SigningError | undefined): Promise<void> => {
    const subject = SUBJECT.signer(wallet);
    if (trouble === undefined) {
      worded.delete(subject);
      return await write(subject, "", [{ kind: "alerts-over", subject }]);
    }
    const text = `nothing is signed for ${wallet}: ${trouble.message}. Slots wait for it as long as their windows last`;
    const alert = { severity: "critical", code: "SIGNER_AWAY", subject, text } as const;
    await write(subject, "away", [raiseChange(deps, alert)]);
    await reword({ subject, code: alert.code, text });
  };
  const differs = async (wallet: string, trouble: SigningError | undefined): Promise<void> => {
    const subject = SUBJECT.signed(wallet);
    if (trouble === undefined) return await write(subject, "", [{ kind: "alerts-over", subject }]);
    const text = `nothing that it answered was sent: ${trouble.message}. Look at the signer of ${wallet} before anything else: its chain id, its keys, who else reaches it`;
    const alert = { severity: "critical", code: "SIGNED_SOMETHING_ELSE", subject, text } as const;
    await write(subject, "differs", [raiseChange(deps, alert)]);
  };
  const look = async (wallet: string, signer: RemoteSigner): Promise<void> => {
    while (!signal.aborted) {
      const trouble = await signer.whyUnable();
      const sinceMs = deps.clock.monotonicMs() - (failedAtMs.get(wallet) ?? Number.NEGATIVE_INFINITY);
      if (trouble !== undefined || sinceMs >= BELIEVED_MS) await away(wallet, trouble);
      await deps.clock.sleep(trouble === undefined ? LOOK_MS : LOOK_AGAIN_MS, signal);
    }
  };
  return {
    heard: async (wallet, trouble) => {
      if (trouble?.code === "different") return await differs(wallet, trouble);
      if (trouble === undefined) failedAtMs.delete(wallet);
      else failedAtMs.set(wallet, deps.clock.monotonicMs());
      await away(wallet, trouble);
      if (trouble === undefined) await differs(wallet, undefined);
    },
    keepLooking: async (signers) => {
      await Promise.all([...signers].map(([wallet, signer]) => look(wallet, signer)));
    },
    stop: () => stopping.abort(),
  };
}
