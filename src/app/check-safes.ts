import { AbiCoder, getAddress, id } from "ethers";
import type { Configuration } from "../config/configuration.ts";
import { type Address, type Hex, toAddress } from "../domain/money/address.ts";
import { formatDuration } from "../domain/time/format-duration.ts";
import { readSafe } from "../engine/perform/read-safe.ts";
import type { Chain } from "../ports/chain.ts";
import type { Finding } from "./finding.ts";

const coder = AbiCoder.defaultAbiCoder();
/** The end of a Safe's lists. */
const SENTINEL = "0x0000000000000000000000000000000000000001";
const MOST_MODULES = 20;
const GUARD_SLOT = id("guard_manager.guard.address");

/** What is seen of each Safe: its version, its owners, and who besides them could move what it holds. */
export async function checkSafes({
  chain,
  configuration,
}: {
  readonly chain: Chain;
  readonly configuration: Configuration;
}): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, address, proposals } of configuration.wallets.values()) {
    if (proposals === undefined) continue;
    findings.push(...(await checkSafe(chain, `Safe ${name}`, address)));
  }
  if (findings.length > 0) findings.push(...lifetimeOf(configuration));
  return findings;
}

async function checkSafe(chain: Chain, what: string, safe: Address): Promise<readonly Finding[]> {
  const { number } = await chain.latest();
  const seen = await readSafe(chain, safe, number);
  if (seen.kind === "unknown")
    return [{ what, found: seen.problem, whatToDo: "name a Safe of version 1.3.0, 1.4.1 or 1.5.0 on this network" }];
  const view = async (data: string): Promise<Hex | undefined> => chain.call({ to: safe, data: data as Hex }, number);
  const owners = await ownersOf(chain, safe, number);
  const threshold = BigInt((await view(selector("getThreshold()"))) ?? 0n);
  const { version, nonce } = seen;
  const signed = `${threshold} of ${owners.length} owners sign (${owners.map((owner) => getAddress(owner)).join(", ")})`;
  const findings: Finding[] = [
    { what, found: `version ${version}, next nonce ${nonce}, ${signed}`, whatToDo: undefined },
  ];
  const page = coder.encode(["address", "uint256"], [SENTINEL, MOST_MODULES]).slice(2);
  const modules = addressesIn(await view(`${selector("getModulesPaginated(address,uint256)")}${page}`));
  if (modules.length > 0) {
    const found = `modules may move its tokens without its owners: ${modules.map((one) => getAddress(one)).join(", ")}`;
    findings.push({ what, found, whatToDo: undefined, isWarning: true });
  }
  const slot = coder.encode(["uint256", "uint256"], [GUARD_SLOT, 1]).slice(2);
  const guard = await view(`${selector("getStorageAt(uint256,uint256)")}${slot}`);
  const word = guard === undefined ? 0n : BigInt(`0x${guard.slice(-64)}`);
  if (word !== 0n) {
    const found = `a guard may refuse what its owners execute: ${getAddress(`0x${word.toString(16).padStart(40, "0")}`)}`;
    findings.push({ what, found, whatToDo: undefined, isWarning: true });
  }
  return findings;
}

/** Who owns a Safe at a block; none where it does not answer. */
export async function ownersOf(chain: Chain, safe: Address, block: number): Promise<readonly Address[]> {
  return addressesIn(await chain.call({ to: safe, data: selector("getOwners()") as Hex }, block));
}

/** People need longer than a relayer. */
const SHORTEST_SECONDS = 900;

function lifetimeOf({ timing }: Configuration): readonly Finding[] {
  const seconds = timing.quoteLifetimeSeconds;
  if (seconds >= SHORTEST_SECONDS) return [];
  const found = `owners have ${formatDuration(seconds * 1_000)} to sign and execute a proposal before it can do nothing any more: raise timing.quoteLifetime`;
  return [{ what: "proposals", found, whatToDo: undefined, isWarning: true }];
}

function selector(signature: string): string {
  return id(signature).slice(0, 10);
}

/** A list of addresses at the head of an answer. */
function addressesIn(answer: Hex | undefined): readonly Address[] {
  if (answer === undefined) return [];
  const words = answer.slice(2).match(/.{64}/g) ?? [];
  const start = Number(BigInt(`0x${words[0] ?? "0"}`)) / 32;
  const count = Number(BigInt(`0x${words[start] ?? "0"}`));
  return words.slice(start + 1, start + 1 + count).map((word) => toAddress(`0x${word.slice(24)}`));
}
