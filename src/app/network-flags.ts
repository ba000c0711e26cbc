import { CommandFailure, EXIT } from "./exit-codes.ts";

/** A flag of `swapd serve` that begins a network or belongs to one, in the order of the command line. */
export interface GivenFlag {
  readonly flag: "network" | "rpc" | "preset" | "settlement";
  readonly value: string;
}

/** What the command line says of one network. */
export interface NetworkFlags {
  readonly network: string;
  readonly rpc?: string;
  readonly preset?: string;
  readonly settlement?: string;
}

/**
 * Gives each flag to its network: the one that it names (`--rpc base=env:RPC`), else the last `--network` before it. With
 * one network everything is that one's, wherever it stands.
 * @throws CommandFailure that names the flag and says what to write; never its value, which may hold a key
 */
export function networksOf(given: readonly GivenFlag[]): readonly NetworkFlags[] {
  const names = given.filter(({ flag }) => flag === "network").map(({ value }) => value);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw usage(`--network ${twice} is given twice: a network is served once`);
  const networks = new Map<string, Partial<Record<GivenFlag["flag"], string>>>(names.map((name) => [name, {}]));
  let last = names.length === 1 ? names[0] : undefined;
  for (const one of given) {
    if (one.flag === "network") {
      last = one.value;
      continue;
    }
    const { name, value } = ownerOf(one, { names, last });
    const flags = networks.get(name) ?? {};
    if (flags[one.flag] !== undefined) {
      throw usage(`--${one.flag} of ${name} is given twice${names.length === 1 ? "" : `; ${named(one, names)}`}`);
    }
    networks.set(name, { ...flags, [one.flag]: value });
  }
  return [...networks].map(([network, flags]) => ({ network, ...flags }));
}

function ownerOf(one: GivenFlag, { names, last }: { names: readonly string[]; last: string | undefined }) {
  const [, name, value] = /^([a-z0-9-]+)=(.+)$/.exec(one.value) ?? [];
  if (name !== undefined && value !== undefined) {
    if (names.includes(name)) return { name, value };
    // A file may be called anything; where there is one network only, it needs no name.
    if (one.flag !== "preset" || names.length > 1) {
      throw usage(`--${one.flag} names the network ${name}, and --network names ${names.join(", ") || "none"}`);
    }
  }
  if (names.length === 0) throw usage(`--${one.flag} belongs to a network, and no --network is given`);
  if (last === undefined) throw usage(`--${one.flag} stands before every --network; ${named(one, names)}`);
  return { name: last, value: one.value };
}

function named({ flag }: GivenFlag, names: readonly string[]): string {
  return `write it behind its --network, or name that one: --${flag} ${names[0]}=...`;
}

function usage(message: string): CommandFailure {
  return new CommandFailure(EXIT.usage, message);
}
