import { randomBytes } from "node:crypto";
import { Secret } from "../net/secret.ts";

const KEY_BYTES = 32;

/** New with each process, in which alone it is used. */
const OWN_KEY = new Secret(`embedded_${randomBytes(KEY_BYTES).toString("base64url")}`);

/**
 * What the daemon's calls to the service in its own process are counted by, where the configuration names no key: its
 * quotes are no stranger's, and are rows.
 */
export function embeddedKey(): Secret {
  return OWN_KEY;
}
