import { type Address, type Hex, toAddress } from "../domain/money/address.ts";

/** An account of the sandbox with its key. */
export interface SandboxAccount {
  readonly address: Address;
  readonly privateKey: Hex;
}

/**
 * The first accounts of the mnemonic "test test test test test test test test test test test junk", which every EVM
 * development node uses by default. Their keys are public knowledge: whatever is sent to them on a real chain is lost.
 */
const PUBLIC_ACCOUNTS = [
  ["0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"],
  ["0x70997970c51812dc3a010c7d01b50e0d17dc79c8", "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"],
  ["0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc", "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"],
  ["0x90f79bf6eb2c4f870365e785982e1f101e93b906", "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"],
  ["0x15d34aaf54267db7d7c367839aaf71a00a2c6a65", "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a"],
] as const;

function publicAccount(index: 0 | 1 | 2 | 3 | 4): SandboxAccount {
  const [address, privateKey] = PUBLIC_ACCOUNTS[index];
  return { address: toAddress(address), privateKey };
}

/** Deploys everything and owns the liquidity. */
export const DEPLOYER = publicAccount(0);
/** The wallet that strategies trade from. */
export const WALLET = publicAccount(1);
/** Pays the gas of gasless swaps. */
export const RELAYER = publicAccount(2);
/** Trades in the pools: the market. */
export const TRADER = publicAccount(3);
/** Publishes the prices. */
export const FEED_OWNER = publicAccount(4);
