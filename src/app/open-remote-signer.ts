import { readFileSync } from "node:fs";
import { createRemoteSigner, type RemoteSigner } from "../adapters/remote-signer/remote-signer.ts";
import type { RemoteKeySource } from "../config/configuration.ts";
import type { SecretReference } from "../config/fields.ts";
import type { SigningError } from "../domain/signing-error.ts";
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

/**
 * Opens a signer elsewhere. Nothing is asked of it yet.
 * @throws CommandFailure 78 when what it needs cannot be read
 */
export function openRemoteSigner(
  { url, address, token, tls, timeoutMs }: RemoteKeySource,
  open: (reference: SecretReference) => Secret,
  { machine = thisMachine(), metered = (one) => one, hears, signal }: RemoteSignerParts = {},
): RemoteSigner {
  const fetch = tls === undefined ? machine.fetch : identified(url, tls, open);
  return createRemoteSigner(
    { url, address, timeoutMs, token: token && open(token), signal },
    { clock: machine.clock, fetch: metered({ ...machine, fetch }).fetch, hears },
  );
}

function identified(
  url: string,
  { certificate, key, authority }: NonNullable<RemoteKeySource["tls"]>,
  open: (reference: SecretReference) => Secret,
): Machine["fetch"] {
  const pair = { certificate: readPem(certificate), key: open(key) };
  const believed = authority === undefined ? undefined : readPem(authority);
  try {
    return createTlsFetch({ ...pair, authority: believed });
  } catch (error) {
    // Its words may hold a part of the key.
    const why = `certificate and key for the signer at ${hostOf(url)} are no pair in PEM (${codeOf(error)})`;
    throw new CommandFailure(EXIT.configuration, `${why}: compare ${certificate} and its key`);
  }
}

function readPem(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandFailure(EXIT.configuration, `${file} cannot be read (${codeOf(error)}): name the right file`);
  }
}
