import { type SafeVersion, safeVersionOf } from "../../domain/guard/safe-contracts.ts";
import { type Address, type Hex, parseAddress, wordOf } from "../../domain/money/address.ts";
import type { AgreedChainReads } from "../../ports/chain.ts";

/** What the chain shows of a Safe at a block, or why it is none that is known. */
export type SafeSeen =
  | { readonly kind: "known"; readonly version: SafeVersion; readonly nonce: bigint }
  | { readonly kind: "unknown"; readonly problem: string };

/** Views of a Safe; its proxy answers the first one itself. */
const VIEW = { singleton: "0xa619486e", version: "0xffa1ad74", nonce: "0xaffed0e0", isOwner: "0x2f54bf6e" } as const;

type Reads = Pick<AgreedChainReads, "call">;

/** Reads whether an account is a Safe of a known version, and its next nonce. */
export async function readSafe(reads: Reads, safe: Address, block: number): Promise<SafeSeen> {
  const view = (data: Hex): Promise<Hex | undefined> => reads.call({ to: safe, data }, block);
  const [singletonWord, versionText] = await Promise.all([view(VIEW.singleton), view(VIEW.version)]);
  const singleton = parseAddress(`0x${singletonWord?.slice(26) ?? ""}`);
  const version = textOf(versionText);
  if (singleton === undefined || version === undefined) {
    return { kind: "unknown", problem: `${safe} does not answer as a Safe does` };
  }
  const known = safeVersionOf({ singleton, version });
  if (known === undefined) {
    const problem = `${safe} calls itself version ${version} and runs the code of ${singleton}, which is none of Safe's own of that version`;
    return { kind: "unknown", problem };
  }
  const nonce = await safeNonce(reads, safe, block);
  if (nonce === undefined) return { kind: "unknown", problem: `${safe} does not say its nonce` };
  return { kind: "known", version: known, nonce };
}

/** The Safe's next nonce at a block; undefined where it does not answer. */
export async function safeNonce(reads: Reads, safe: Address, block: number): Promise<bigint | undefined> {
  const answer = await reads.call({ to: safe, data: VIEW.nonce }, block);
  return answer !== undefined && answer.length === 66 ? BigInt(answer) : undefined;
}

/** Whether an account is one of a Safe's owners at a block; undefined where the Safe does not answer. */
export async function isOwner(
  reads: Reads,
  { safe, account }: { readonly safe: Address; readonly account: Address },
  block: number,
): Promise<boolean | undefined> {
  const answer = await reads.call({ to: safe, data: `${VIEW.isOwner}${wordOf(account).slice(2)}` }, block);
  return answer !== undefined && answer.length === 66 ? BigInt(answer) !== 0n : undefined;
}

/** A short text as the ABI encodes it alone; undefined for anything else. */
function textOf(answer: Hex | undefined): string | undefined {
  const [, length, digits] = /^0x0{62}20(?:0{62}([0-9a-f]{2}))([0-9a-f]{64})$/.exec(answer ?? "") ?? [];
  if (length === undefined || digits === undefined) return undefined;
  const bytes = digits.slice(0, 2 * Number.parseInt(length, 16)).match(/../g) ?? [];
  return bytes.map((byte) => String.fromCharCode(Number.parseInt(byte, 16))).join("");
}
