import { SigningError } from "../../../src/domain/signing-error.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Signer } from "../../../src/ports/signer.ts";
import type { Faults } from "../faults.ts";

const TROUBLES = ["pending", "held back", "away", "refused", "different"] as const;

/**
 * The same signer as one elsewhere may be: away for a while, without an answer now and then, or late by less than a lane
 * waits. Where it gives no answer it made no signature that anybody has, which is the same to everybody else. The two
 * signatures of one order are both given or neither, and at once: a permit that is made and kept back the judge takes for
 * one that somebody may bring.
 */
export function createSignerElsewhere(
  signer: Signer,
  { faults, clock }: { readonly faults: Faults; readonly clock: Pick<Clock, "monotonicMs" | "sleep"> },
): Signer {
  let givenAtMs: number | undefined;
  const ask = async <T>(what: string, sign: () => Promise<T>): Promise<T> => {
    const atMs = clock.monotonicMs();
    const isSecond = atMs === givenAtMs;
    if (!isSecond && faults.lasts("signer: away", "signer", atMs)) throw new SigningError("away", "the signer is away");
    if (!isSecond && faults.strikes("signer: no answer", what)) {
      const code = faults.chance.pick(TROUBLES, "signer", what, atMs);
      throw new SigningError(code, `the signer gives nothing: ${code}`);
    }
    const signed = await sign();
    givenAtMs = atMs;
    if (what !== "Permit" && faults.strikes("signer: late", what))
      await clock.sleep(faults.chance.between(20, 950, "signer late", atMs));
    return signed;
  };
  return {
    address: signer.address,
    signTransaction: (transaction) => ask("transaction", () => signer.signTransaction(transaction)),
    signTypedData: (typedData) => ask(typedData.primaryType, () => signer.signTypedData(typedData)),
  };
}
