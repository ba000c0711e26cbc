import { openKeystore } from "../adapters/keys/keystore.ts";
import { createSigner } from "../adapters/keys/signer.ts";
import type { Configuration, KeySource, NetworkConfiguration, RpcEndpoint } from "../config/configuration.ts";
import type { SecretReference } from "../config/fields.ts";
import { resolveSecret } from "../config/files.ts";
import type { Address } from "../domain/money/address.ts";
import type { Redactor } from "../net/redact.ts";
import { Secret } from "../net/secret.ts";
import type { Signer } from "../ports/signer.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { namingKey } from "./key-failure.ts";
import { openRemoteSigner, type RemoteSignerParts } from "./open-remote-signer.ts";

/** Opens secrets by reference. Each is registered with the redactor before it is handed out. */
export interface SecretOpener {
  open(reference: SecretReference): Secret;
  rpcUrls(configuration: Configuration): readonly Secret[];
  /** where transactions are sent instead of the RPC endpoints; none: to these */
  submitUrls(configuration: Configuration): readonly Secret[];
  /** @param parts for a signer elsewhere */
  signer(source: KeySource, parts?: RemoteSignerParts): Promise<Signer>;
  privateKey(source: KeySource): Secret | undefined;
}

export function createSecretOpener(env: NodeJS.ProcessEnv, redactor: Redactor): SecretOpener {
  const open = (reference: SecretReference): Secret => {
    const resolved = resolveSecret(reference, env);
    if (!resolved.ok) throw new CommandFailure(EXIT.configuration, `a secret is missing: ${resolved.problem}`);
    redactor.add(resolved.value);
    return new Secret(resolved.value);
  };
  const rpcUrl = (endpoint: RpcEndpoint): Secret => {
    if ("url" in endpoint) return new Secret(endpoint.url);
    const url = open(endpoint);
    if (/^https?:$/.test(URL.parse(url.reveal())?.protocol ?? "")) return url;
    const message = `what ${placeOf(endpoint)} holds is no URL of an RPC endpoint: write https://... or http://...`;
    throw new CommandFailure(EXIT.configuration, message);
  };
  return {
    open,
    rpcUrls: (configuration) => configuration.network.rpc.map(rpcUrl),
    submitUrls: ({ network }) => submitUrls(network, rpcUrl),
    signer: async (source, parts) => {
      if (source.kind === "remote") return openRemoteSigner(source, open, parts);
      if (source.kind === "raw") {
        const { privateKey } = source;
        return await namingKey(placeOf(privateKey), () => createSigner(open(privateKey)));
      }
      const [json, password] = [open(source.keystore).reveal(), open(source.password)];
      const place = `${placeOf(source.keystore)}, with the password in ${placeOf(source.password)}`;
      return await namingKey(place, () => openKeystore({ json, password }));
    },
    privateKey: (source) => (source.kind === "raw" ? open(source.privateKey) : undefined),
  };
}

function submitUrls({ submit, rpc }: NetworkConfiguration, open: (one: RpcEndpoint) => Secret): readonly Secret[] {
  if (submit.kind === "public") return [];
  if (submit.kind === "named") return submit.endpoints.map(open);
  return rpc.every((endpoint) => isHosted(open(endpoint))) ? submit.relays.map(({ url }) => new Secret(url)) : [];
}

/**
 * A copy of a network on this machine, for a rehearsal, has that network's chain id: what is signed for the copy would be
 * worth its money on the network itself, if relays got it that nobody named. Such a node is asked without TLS.
 */
function isHosted(url: Secret): boolean {
  return url.reveal().startsWith("https:");
}

function placeOf(reference: SecretReference): string {
  return "env" in reference ? `the environment variable ${reference.env}` : `the file ${reference.file}`;
}

/** The same secrets, with accounts that have their addresses and sign nothing. */
export function withoutSignatures(secrets: SecretOpener): SecretOpener {
  // A signer elsewhere is not asked for its address: it is stated.
  return { ...secrets, signer: async (source) => addressOnly((await secrets.signer(source)).address) };
}

/** An account without its key. */
export function addressOnly(address: Address): Signer {
  const refuse = async (): Promise<never> => {
    throw new Error(`the account ${address} is only looked at here, and was asked to sign`);
  };
  return { address, isWatched: true, signTransaction: refuse, signTypedData: refuse };
}
