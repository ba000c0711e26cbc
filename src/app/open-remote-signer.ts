import { readFileSync } from "node:fs";
import { createRemoteSigner, type RemoteSigner } from "../adapters/remote-signer/remote-signer.ts";
import type { RemoteKeySource } from "../config/configuration.ts";
import type { SecretReference } from "../config/fields.ts";
import { SigningError } from "../domain/signing-error.ts";
import { createTlsFetch } from "../net/bounded-fetch.ts";
import { codeOf } from "../net/error-code.ts";
import { hostOf, type Secret } from "../net/secret.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { type Machine, thisMachine } from "./machine.ts";

/** What a remote signer is opened with; without them it is this machine, and nobody hears. */
export interface RemoteSignerParts {
  readonly machine?: Pick<Machine, "clock" | "fetch">;
  /** the machine whose requests are counted */
  metered?(machine: Pick<Machine, "clock" | "fetch">): Pick<Machine, "fetch">;
  hears?(trouble: SigningError | undefined): void;
  readonly signal?: AbortSignal;
}

/** What shows a signer who we are, and whom we believe. People renew it while a daemon runs. */
interface Papers {
  readonly token: Secret | undefined;
  readonly tls:
    | { readonly certificate: string; readonly key: Secret; readonly authority: string | undefined }
    | undefined;
}

/**
 * Opens a signer elsewhere. Nothing is asked of it yet. Where it does not answer or refuses, certificates, key and token are
 * read again: what was renewed on the disk meanwhile counts from then on, and what does not fit together yet does not.
 * @throws CommandFailure 78 when what it needs cannot be read
 */
export function openRemoteSigner(
  source: RemoteKeySource,
  open: (reference: SecretReference) => Secret,
  parts: RemoteSignerParts = {},
): RemoteSigner {
  let papers = readPapers(source, open);
  let signer = withPapers(source, papers, parts);
  /** @returns whether others are in use now */
  const renew = (): boolean => {
    try {
      const next = readPapers(source, open);
      if (textOf(next) === textOf(papers)) return false;
      signer = withPapers(source, next, parts);
      papers = next;
      return true;
    } catch (error) {
      // Half of it is written, or none is there: the old ones stay in use, and it is tried again.
      if (error instanceof CommandFailure) return false;
      throw error;
    }
  };
  const signed = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof SigningError && (error.code === "away" || error.code === "refused")) renew();
      throw error;
    }
  };
  return {
    address: source.address,
    signTransaction: async (fields) => await signed(signer.signTransaction(fields)),
    signTypedData: async (typedData) => await signed(signer.signTypedData(typedData)),
    whyUnable: async () => {
      const trouble = await signer.whyUnable();
      return trouble !== undefined && renew() ? await signer.whyUnable() : trouble;
    },
    tryOut: async (chainId) => await signer.tryOut(chainId),
  };
}

function readPapers({ token, tls }: RemoteKeySource, open: (reference: SecretReference) => Secret): Papers {
  const authority = tls?.authority;
  return {
    token: token && open(token),
    tls: tls && {
      certificate: readPem(tls.certificate),
      key: open(tls.key),
      authority: authority === undefined ? undefined : readPem(authority),
    },
  };
}

/** To compare by; it holds secrets. */
function textOf({ token, tls }: Papers): string {
  return JSON.stringify([token?.reveal(), tls?.certificate, tls?.key.reveal(), tls?.authority]);
}

function withPapers(
  { url, address, tls, timeoutMs }: RemoteKeySource,
  papers: Papers,
  { machine = thisMachine(), metered = (one) => one, hears, signal }: RemoteSignerParts,
): RemoteSigner {
  const fetch = papers.tls === undefined ? machine.fetch : identified(url, papers.tls, tls?.certificate ?? "");
  return createRemoteSigner(
    { url, address, timeoutMs, token: papers.token, signal },
    { clock: machine.clock, fetch: metered({ ...machine, fetch }).fetch, hears },
  );
}

function identified(url: string, tls: NonNullable<Papers["tls"]>, file: string): Machine["fetch"] {
  try {
    return createTlsFetch(tls);
  } catch (error) {
    // Its words may hold a part of the key.
    const why = `certificate and key for the signer at ${hostOf(url)} are no pair in PEM (${codeOf(error)})`;
    throw new CommandFailure(EXIT.configuration, `${why}: compare ${file} and its key`);
  }
}

function readPem(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandFailure(EXIT.configuration, `${file} cannot be read (${codeOf(error)}): name the right file`);
  }
}
