import { computeAddress, SigningKey } from "ethers";
import { flyProfile } from "../../../src/adapters/swap-service/fly/service.ts";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import type { Configuration } from "../../../src/config/configuration.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../src/domain/guard/typed-data.ts";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { packCall } from "../../support/hosted-double/packed-call.ts";
import { digestOf } from "../../support/hosted-double/swap-message.ts";
import type { Chance } from "../chance.ts";
import { type Order, swapCalldata } from "./ledger.ts";
import { CHAIN_ID, ROUTER, WETH } from "./places.ts";

/** How a service has orders signed, and what it does with an order that is submitted once more. */
export interface SimProfile {
  readonly name: "swapd" | "fly";
  /** How its owner writes it down. */
  configured(own: Configuration): Configuration;
  /** of the order of a quote; undefined: orders have none, and anyone who has the signature can try again until its end */
  nonceOf(quote: { readonly number: number; readonly isGasless: boolean }): bigint | undefined;
  /** a quote that is submitted twice is traded once */
  readonly isIdempotent: boolean;
  typedData(order: Order): TypedData;
  calldata(order: Order): Hex;
}

const PINNED = { chainId: CHAIN_ID, contracts: oneContract(ROUTER), wrappedNative: WETH.address };
const SERVICE_KEY = new SigningKey(`0x${"09".repeat(32)}`);
const SHARE_WITHOUT_NONCES = 0.25;

const OWN: SimProfile = {
  ...{ name: "swapd", isIdempotent: true },
  configured: (own) => own,
  nonceOf: ({ number, isGasless }) => (isGasless ? BigInt(1_000 + number) : 0n),
  typedData: (order) => swapdProfile.typedData(decodedOf(order), PINNED),
  calldata: swapCalldata,
};

const HOSTED: SimProfile = {
  ...{ name: "fly", isIdempotent: false },
  configured: (own) => ({
    ...own,
    service: { ...own.service, profile: "fly", signer: toAddress(computeAddress(SERVICE_KEY)) },
    // Nobody but its relayer can simulate what is signed.
    policy: { ...own.policy, acceptsUntriedGasless: true },
  }),
  nonceOf: () => undefined,
  typedData: (order) => flyProfile.typedData(decodedOf(order), PINNED),
  calldata: (order) => {
    const { sender, owner, recipient, fromAsset, toAsset, deadline, amountOutMin, swapFee, amountIn } = order;
    const who = { router: ROUTER, sender: sender ?? owner, recipient, affiliate: undefined };
    const message = { ...who, fromAsset, toAsset, deadline, amountOutMin, swapFee, amountIn };
    const signature = SERVICE_KEY.sign(digestOf(message, CHAIN_ID));
    return packCall("service", message, { signature }) as Hex;
  },
};

/** Whether a seed's service has orders without nonces. */
export function isWithoutNonces(chance: Chance): boolean {
  return chance.of("profile") < SHARE_WITHOUT_NONCES;
}

export function drawProfile(chance: Chance): SimProfile {
  return isWithoutNonces(chance) ? HOSTED : OWN;
}

function decodedOf(order: Order) {
  const { sender, recipient, fromAsset, toAsset, deadline, amountOutMin, swapFee, amountIn, nonce } = order;
  return {
    ...{
      contracts: oneContract(ROUTER),
      sender,
      recipient,
      fromAsset,
      toAsset,
      deadline,
      amountOutMin,
      swapFee,
      amountIn,
      nonce,
    },
    ...{ affiliate: undefined, permitValue: undefined },
  };
}
