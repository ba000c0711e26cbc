import { type Address, toAddress } from "../money/address.ts";

/** The versions of the Safe contracts that swaps are proposed to. */
const SAFE_VERSIONS = ["1.3.0", "1.4.1", "1.5.0"] as const;
export type SafeVersion = (typeof SAFE_VERSIONS)[number];

interface SafeContracts {
  /** the contracts that an account of this version may delegate all of its calls to */
  readonly singletons: readonly Address[];
  /** the one contract that a proposal may run with the account's own rights: it makes calls, and nothing else */
  readonly multiSendCallOnly: Address;
}

/**
 * Safe's own contracts at the addresses that are the same on every network: those follow from their bytecode, because
 * factories without an owner deploy them. zkSync has others, and 1.3.0 has a second pair of singletons where a network
 * takes no transaction without its chain id.
 * Source: npm `@safe-global/safe-deployments` 1.37.63.
 */
export const SAFE_CONTRACTS: Readonly<Record<SafeVersion, SafeContracts>> = {
  "1.3.0": {
    singletons: [
      toAddress("0xd9Db270c1B5E3Bd161E8c8503c55cEABeE709552"),
      toAddress("0x3E5c63644E683549055b9Be8653de26E0B4CD36E"),
      toAddress("0x69f4D1788e39c87893C980c06EdF4b7f686e2938"),
      toAddress("0xfb1bffC9d739B8D520DaF37dF666da4C687191EA"),
    ],
    multiSendCallOnly: toAddress("0x40A2aCCbd92BCA938b02010E17A5b8929b49130D"),
  },
  "1.4.1": {
    singletons: [
      toAddress("0x41675C099F32341bf84BFc5382aF534df5C7461a"),
      toAddress("0x29fcB43b46531BcA003ddC8FCB67FFE91900C762"),
    ],
    multiSendCallOnly: toAddress("0x9641d764fc13c8B624c04430C7356C1C7C8102e2"),
  },
  "1.5.0": {
    singletons: [
      toAddress("0xFf51A5898e281Db6DfC7855790607438dF2ca44b"),
      toAddress("0xEdd160fEBBD92E350D4D398fb636302fccd67C7e"),
    ],
    multiSendCallOnly: toAddress("0xA83c336B20401Af773B6219BA5027174338D1836"),
  },
};

/** The version of an account by the contract that it delegates to and by its own word; undefined: not one that is known. */
export function safeVersionOf(seen: {
  readonly singleton: Address;
  readonly version: string;
}): SafeVersion | undefined {
  return SAFE_VERSIONS.find(
    (version) => version === seen.version && SAFE_CONTRACTS[version].singletons.includes(seen.singleton),
  );
}
