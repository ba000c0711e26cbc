import { readFileSync } from "node:fs";
import { getAddress } from "ethers";
import { z } from "zod";
import type {
  Configuration,
  KeySource,
  Mode,
  ProposalsConfiguration,
  WalletConfiguration,
} from "../config/configuration.ts";
import { readYaml } from "../config/read-yaml.ts";
import type { Address } from "../domain/money/address.ts";
import { hostOf } from "../net/secret.ts";
import { checkPlaces } from "./check-places.ts";
import { checkRows } from "./check-rows.ts";
import { checkSecrets } from "./check-secrets.ts";
import { CommandFailure } from "./exit-codes.ts";
import { rightsOfOthers } from "./file-rights.ts";
import type { Finding } from "./finding.ts";
import { machineZone } from "./machine-zone.ts";
import type { SecretOpener } from "./open-secrets.ts";
import type { Runtime } from "./runtime.ts";

/**
 * Checks what a configuration names on this machine: that each wallet opens, that every other secret is there, that nobody
 * else reads what is secret, that databases and markers can be written and the rows are theirs, that there is something to
 * trade, and that times mean what they seem to. No network is asked.
 */
export async function checkMachine(configuration: Configuration, runtime: Runtime): Promise<readonly Finding[]> {
  return [
    ...(await checkKeys(configuration, runtime)),
    ...(await checkSecrets(configuration, runtime)),
    ...checkPlaces(configuration),
    ...(await checkRows(configuration)),
    ...checkFolder(configuration),
    ...checkZones(configuration),
  ];
}

/** That each wallet and each delegate opens, and that nobody else reads what is secret. Nothing is signed. */
export async function checkKeys(
  configuration: Configuration,
  runtime: Pick<Runtime, "secrets">,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const wallet of configuration.wallets.values()) {
    const finding = await checkWallet(wallet, configuration.mode, runtime.secrets);
    findings.push(configuration.mode === "paper" ? onlyLive(finding) : finding);
  }
  findings.push(...(await checkDelegates(configuration, runtime.secrets)));
  findings.push(...checkReaders(configuration));
  return findings;
}

function placesOf({ folder, service }: ProposalsConfiguration): readonly string[] {
  const files = folder === undefined ? [] : [`in ${folder}`];
  return service === undefined ? files : [...files, `at ${hostOf(service.url)}`];
}

/** The key that signs proposals; it is opened as a wallet's is. */
async function checkDelegates({ wallets, mode }: Configuration, secrets: SecretOpener): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { name, proposals } of wallets.values()) {
    if (proposals?.service === undefined) continue;
    const { key, address } = proposals.service.delegate;
    const finding = await checkKey({ what: `delegate of ${name}`, key, address }, secrets);
    findings.push(mode === "live" ? finding : onlyLive(finding));
  }
  return findings;
}

async function checkWallet(wallet: WalletConfiguration, mode: Mode, secrets: SecretOpener): Promise<Finding> {
  const { name, address, key, proposals } = wallet;
  const what = `wallet ${name}`;
  const shown = getAddress(address);
  if (proposals !== undefined) {
    const places = placesOf(proposals).join(" and ");
    const place = mode === "live" ? `its owners find what is proposed ${places}` : "nothing is proposed";
    return { what, found: `${shown} is a Safe: ${place}`, whatToDo: undefined };
  }
  if (key === undefined)
    return { what, found: `${shown} is watched: nothing can be signed for it`, whatToDo: undefined };
  return await checkKey({ what, key, address }, secrets);
}

async function checkKey(
  { what, key, address }: { readonly what: string; readonly key: KeySource; readonly address: Address },
  secrets: SecretOpener,
): Promise<Finding> {
  const shown = getAddress(address);
  if (key.kind === "remote")
    return { what, found: `${shown} is signed for at ${hostOf(key.url)}`, whatToDo: undefined };
  try {
    const signer = await secrets.signer(key);
    const isSame = signer.address === address;
    const whatToDo = isSame ? undefined : "state the address of this key, or name the key of this address";
    return { what, found: isSame ? `${shown} opens` : `the key is of ${getAddress(signer.address)}`, whatToDo };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { what, found: error.message, whatToDo: "nothing can be signed for it: correct the file, or what names it" };
  }
}

/** On paper no keystore is opened: one that does not open keeps it from nothing, and is good to know before it is live. */
function onlyLive({ what, found, whatToDo }: Finding): Finding {
  if (whatToDo === undefined) return { what, found, whatToDo };
  return {
    what,
    found: `${found}; on paper nothing opens it, live it is needed`,
    whatToDo: undefined,
    isWarning: true,
  };
}

/** Whoever else reads them can empty the wallet, or spend what the endpoint was paid for. */
function checkReaders(configuration: Configuration): readonly Finding[] {
  const { wallets, network, service, reference, serve, channels, heartbeat, chat } = configuration;
  const places = [[...wallets.values()], network, service, reference, serve, channels, heartbeat, chat];
  const files = new Set(secretFilesIn(places));
  return [...files].flatMap((file) => {
    const others = rightsOfOthers(file);
    if (others === undefined) return [];
    const { rights, command } = others;
    const found = `${file} can be read by others (${rights}): ${command}`;
    return [{ what: "secret", found, whatToDo: undefined, isWarning: true, command }];
  });
}

/** The files of all references to secrets, wherever in the configuration they stand. */
function secretFilesIn(value: unknown): readonly string[] {
  if (value instanceof Map) return secretFilesIn([...value.values()]);
  if (typeof value !== "object" || value === null) return [];
  const parts = Object.entries(value);
  const [first] = parts;
  if (parts.length === 1 && first?.[0] === "file" && typeof first[1] === "string") return [first[1]];
  return parts.flatMap(([, part]) => secretFilesIn(part));
}

function checkFolder({ strategies, origin }: Configuration): readonly Finding[] {
  if (strategies.length > 0) return [];
  const whatToDo = "put a file there: `swapd init` in an empty folder writes one, and strategies/examples has more";
  return [{ what: "strategies", found: `${origin.strategies} has none: nothing would ever be traded`, whatToDo }];
}

/** A time of day without a zone is of UTC, which few people live by. */
export function checkZones({ strategies }: Configuration): readonly Finding[] {
  const here = machineZone();
  return strategies.flatMap(({ spec, file }) => {
    const { kind, timezone, windows, blackouts } = spec.schedule;
    const hasTimes = kind !== "every" || windows !== undefined || blackouts !== undefined;
    if (!hasTimes || timezone !== "UTC" || here === "UTC" || statesZone(file)) return [];
    const found = `${file} names no timezone, so its times are UTC; of this machine it would be timezone: ${here}`;
    return [{ what: `strategy ${spec.id}`, found, whatToDo: undefined, isWarning: true }];
  });
}

const WITH_ZONE = z.object({ schedule: z.object({ timezone: z.string() }) });

function statesZone(file: string): boolean {
  try {
    return WITH_ZONE.safeParse(readYaml(file, readFileSync(file, "utf8")).source?.data).success;
  } catch {
    // It was there a moment ago; the loader will say so.
    return true;
  }
}
