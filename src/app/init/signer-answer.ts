import { getAddress } from "ethers";
import { createSignerCalls } from "../../adapters/remote-signer/signer-calls.ts";
import { type Address, parseAddress } from "../../domain/money/address.ts";
import { SigningError } from "../../domain/signing-error.ts";
import { hostOf } from "../../net/secret.ts";
import { thisMachine } from "../machine.ts";
import type { SignerAnswer } from "./answers.ts";
import { problemWith, type Session, type Verdict, withDraft } from "./session.ts";

/** A person waits for it. */
const PATIENCE_MS = 5_000;

/**
 * Judges a signer elsewhere by asking it for its accounts, and for no signature. One that does not answer yet is taken with
 * its address: it may want certificates or a token, which are added by hand.
 */
export async function judgeSigner(session: Session, { url, address }: SignerAnswer): Promise<Verdict> {
  if (address !== undefined) {
    const problem = await whyRefused(session, signerAnswer(url, address));
    if (problem !== undefined) return { problem };
  } else if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { problem: `${JSON.stringify(url)} is no http or https URL: name where the signer listens` };
  }
  if (session.isOffline && address !== undefined)
    return { value: signerAnswer(url, address), says: ["offline: the signer was not asked"] };
  if (session.isOffline) return { problem: "offline nobody is asked: name the address after the URL" };
  const accounts = await accountsOf(url);
  if (accounts instanceof SigningError) {
    if (address === undefined) return { problem: `${accounts.message}: start it, or name the address after the URL` };
    const warning = `warning: ${accounts.message}; certificates and a token are added by hand (docs/OPERATIONS.md, Signer)`;
    return { value: signerAnswer(url, address), says: [warning] };
  }
  return await choose(session, { url, address, accounts });
}

async function choose(
  session: Session,
  { url, address, accounts }: { url: string; address: string | undefined; accounts: readonly Address[] },
): Promise<Verdict> {
  const listed = accounts.map((account) => getAddress(account));
  const [only, another] = listed;
  const wanted = address ?? (another === undefined ? only : undefined);
  const has = `the signer at ${hostOf(url)} has ${listed.length === 0 ? "no key" : listed.join(", ")}`;
  if (wanted === undefined)
    return { problem: `${has}: ${only === undefined ? "give it one" : "name one after the URL"}` };
  const account = parseAddress(wanted);
  if (account === undefined || !accounts.includes(account))
    return { problem: `${has}, and not ${wanted}: give it that key, or name another address` };
  const value = signerAnswer(url, getAddress(account));
  const problem = address === undefined ? await whyRefused(session, value) : undefined;
  if (problem !== undefined) return { problem };
  return {
    value,
    says: [`the signer at ${hostOf(url)} has ${getAddress(account)}; swapd check asks it for signatures`],
  };
}

function signerAnswer(url: string, address: string): string {
  return `signer ${url} ${address}`;
}

/** What the loader says of it. */
async function whyRefused(session: Session, wallet: string): Promise<string | undefined> {
  return await withDraft(session, { wallet }, async (loaded, answers) => problemWith("wallet", answers, loaded));
}

/** @returns the accounts that it lists, or why there are none to be had */
async function accountsOf(url: string): Promise<readonly Address[] | SigningError> {
  const calls = createSignerCalls({ url, token: undefined, timeoutMs: PATIENCE_MS }, thisMachine().fetch);
  try {
    const found = await calls.call("eth_accounts", []);
    if (!Array.isArray(found)) return new SigningError("away", `the signer at ${calls.host} lists no accounts`);
    return found.flatMap((one) => (typeof one === "string" ? (parseAddress(one) ?? []) : []));
  } catch (error) {
    if (error instanceof SigningError) return error;
    throw error;
  }
}
