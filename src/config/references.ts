import type { KeySource, RemoteKeySource } from "./configuration.ts";
import type { SecretReference } from "./fields.ts";
import { resolveFrom } from "./files.ts";
import type { KeyFields } from "./schemas/wallet-schema.ts";
import type { Source } from "./source.ts";

/** A reference whose file is named from the folder of the file that holds it, made absolute. */
export function absoluteReference(source: Source, reference: SecretReference): SecretReference {
  return "file" in reference ? { file: resolveFrom(source.file, reference.file) } : reference;
}

/** Where a key is, with absolute paths. */
export function keySource(source: Source, fields: KeyFields): KeySource {
  if ("signer" in fields) return remoteSource(source, fields);
  if ("privateKey" in fields) return { kind: "raw", privateKey: absoluteReference(source, fields.privateKey) };
  return {
    kind: "keystore",
    keystore: absoluteReference(source, fields.keystore),
    password: absoluteReference(source, fields.password),
  };
}

function remoteSource(source: Source, { signer }: Extract<KeyFields, { signer: unknown }>): RemoteKeySource {
  const { url, address, token, tls, timeout: timeoutMs } = signer;
  return {
    ...{ kind: "remote", url, address, timeoutMs },
    token: token && absoluteReference(source, token),
    tls: tls && {
      certificate: resolveFrom(source.file, tls.certificate),
      key: absoluteReference(source, tls.key),
      authority: tls.authority === undefined ? undefined : resolveFrom(source.file, tls.authority),
    },
  };
}
