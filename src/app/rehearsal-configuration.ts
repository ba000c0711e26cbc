import { join } from "node:path";
import type { Configuration, KeySource, WalletConfiguration } from "../config/configuration.ts";
import type { Listen } from "../config/fields.ts";
import type { Address } from "../domain/money/address.ts";

/** Where the last rehearsal of a folder lies in it. */
export const REHEARSAL_DIRECTORY = join(".swapd", "rehearsal");
const DATABASE = "swapd.db";
export const REHEARSAL_DATABASE = join(REHEARSAL_DIRECTORY, DATABASE);

/** An account of a rehearsal, whose key stands in an environment variable of this process alone. */
export interface RehearsalAccount {
  readonly address: Address;
  /** the variable's name */
  readonly key: string;
}

/** Where a rehearsal runs, and who trades in it. */
export interface Rehearsal {
  readonly rpcUrl: string;
  /** its database and markers lie here */
  readonly directory: string;
  readonly listen: { readonly service: Listen; readonly status: Listen };
  /** in the place of each wallet, by name */
  readonly copies: ReadonlyMap<string, RehearsalAccount>;
  readonly relayer: RehearsalAccount;
}

/** Why a configuration cannot be rehearsed; undefined when it can. */
export function unfitForRehearsal({ service, reference, wallets }: Configuration): string | undefined {
  const asked = [service, ...(reference.service === undefined ? [] : [reference.service])];
  const outside = asked.find(({ url }) => url !== "embedded");
  if (outside !== undefined) {
    return `it asks the service at ${outside.url}, which knows nothing of a fork and would get orders that the real network fills: rehearse a copy of it that quotes by itself, with \`service: { url: embedded }\``;
  }
  const safe = [...wallets.values()].find(({ proposals }) => proposals !== undefined);
  if (safe === undefined) return undefined;
  return `its wallet ${safe.name} is a Safe, whose owners sign nothing on a fork: rehearse a copy of it with an account in the Safe's place`;
}

/**
 * A configuration as it trades on a copy of its chain: live, with accounts in the place of its wallets, wherever their
 * addresses stand. No endpoint, service, relay or channel of it is reached, and none of its keys is opened: what is signed
 * is of accounts that have nothing on the network.
 */
export function rehearsalOf(configuration: Configuration, rehearsal: Rehearsal): Configuration {
  const places = new Map<string, string>();
  for (const [name, { address }] of rehearsal.copies) {
    const wallet = configuration.wallets.get(name);
    if (wallet !== undefined) places.set(wallet.address, address);
  }
  const moved = renamed(configuration, places);
  const { directory, listen } = rehearsal;
  const wallets = new Map([...moved.wallets].map(([name, wallet]) => [name, copyOf(wallet, rehearsal)]));
  const { serve, service } = moved;
  return {
    ...moved,
    mode: "live",
    network: {
      ...moved.network,
      ...{ rpc: [{ url: rehearsal.rpcUrl }], submit: { kind: "public" }, fallback: undefined, sending: undefined },
    },
    service: { ...service, apiKey: undefined },
    wallets,
    ...{ database: join(directory, DATABASE), identity: join(directory, "identity"), listen: listen.status },
    ...{ channels: [], heartbeat: undefined, chat: undefined },
    serve: {
      ...serve,
      ...{ listen: listen.service, database: join(directory, "service.db"), metrics: undefined, apiKeys: [] },
      relayer: serve.relayer && keyOf(rehearsal.relayer),
    },
  };
}

function copyOf(configured: WalletConfiguration, { copies }: Rehearsal): WalletConfiguration {
  const { name, address } = configured;
  const account = copies.get(name);
  if (account === undefined) throw new Error(`the wallet ${name} came after the rehearsal had begun`);
  return { name, address, key: keyOf(account), delegate: undefined };
}

function keyOf({ key }: RehearsalAccount): KeySource {
  return { kind: "raw", privateKey: { env: key } };
}

/** The same data with some texts in the place of others, wherever they stand. */
function renamed<T>(value: T, places: ReadonlyMap<string, string>): T {
  return renamedValue(value, places) as T;
}

function renamedValue(value: unknown, places: ReadonlyMap<string, string>): unknown {
  const again = (one: unknown): unknown => renamedValue(one, places);
  if (typeof value === "string") return places.get(value) ?? value;
  if (Array.isArray(value)) return value.map(again);
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [again(key), again(one)]));
  if (value instanceof Set) return new Set([...value].map(again));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, again(one)]));
}
