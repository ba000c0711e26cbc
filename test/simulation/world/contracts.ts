import { TypedDataEncoder } from "ethers";
import type { Hex } from "../../../src/domain/money/address.ts";
import type { SimBlock, SimChain } from "./chain.ts";
import { Ledger } from "./ledger.ts";
import { NodeError } from "./node.ts";
import { CHAIN_ID, ETH, ROUTER, type SimToken, TOKENS, tokenAt } from "./places.ts";
import { addressAt, encodedText, eventTopic, selector, wordAt, words } from "./words.ts";

const FEED_DECIMALS = 8;
const PERMIT_TYPE = "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)";

type View = (asked: { ledger: Ledger; token: SimToken; data: string }) => Hex;

const TOKEN_VIEWS: ReadonlyMap<string, View> = new Map<string, View>([
  [
    selector("balanceOf(address)"),
    ({ ledger, token, data }) => words(ledger.balance(token.address, addressAt(data, 0))),
  ],
  [
    selector("allowance(address,address)"),
    ({ ledger, token, data }) => words(ledger.allowance(token.address, addressAt(data, 0), addressAt(data, 1))),
  ],
  [selector("decimals()"), ({ token }) => words(token.decimals)],
  [selector("name()"), ({ token }) => encodedText(nameOf(token))],
]);

const PERMIT_VIEWS: ReadonlyMap<string, View> = new Map<string, View>([
  [
    selector("nonces(address)"),
    ({ ledger, token, data }) => words(ledger.permitNonce(token.address, addressAt(data, 0))),
  ],
  [selector("version()"), () => encodedText("1")],
  [selector("DOMAIN_SEPARATOR()"), ({ token }) => separatorOf(token)],
  [selector("PERMIT_TYPEHASH()"), () => eventTopic(PERMIT_TYPE)],
]);

const LATEST_ROUND = selector("latestRoundData()");
const DECIMALS = selector("decimals()");
const IS_NONCE_USED = selector("isNonceUsed(address,uint256)");
const separators = new Map<string, Hex>();

/** Answers a view call at a block. @throws NodeError where the contract reverts */
export function answerCall(
  chain: SimChain,
  block: SimBlock,
  call: { readonly to: string; readonly data?: string; readonly input?: string },
): Hex {
  const data = call.data ?? call.input ?? "0x";
  const to = call.to.toLowerCase();
  const name = data.slice(0, 10);
  const ledger = new Ledger(block.state);
  if (to === ROUTER && name === IS_NONCE_USED) {
    return words(ledger.isNonceUsed(addressAt(data, 0), wordAt(data, 1)) ? 1 : 0);
  }
  const fed = [...TOKENS, ETH].find(({ feed }) => feed === to);
  if (fed !== undefined && name === DECIMALS) return words(FEED_DECIMALS);
  if (fed !== undefined && name === LATEST_ROUND) {
    const seconds = block.seconds - (block.seconds % 60);
    return words(block.number, chain.prices(block.number).dollars(fed), seconds, seconds, block.number);
  }
  const token = tokenAt(to);
  const view = TOKEN_VIEWS.get(name) ?? (token?.hasPermit === true ? PERMIT_VIEWS.get(name) : undefined);
  if (token === undefined || view === undefined) throw new NodeError(3, "execution reverted");
  return view({ ledger, token, data });
}

function nameOf(token: SimToken): string {
  return `Simulated ${token.symbol}`;
}

function separatorOf(token: SimToken): Hex {
  const known = separators.get(token.address);
  if (known !== undefined) return known;
  const domain = { name: nameOf(token), version: "1", chainId: CHAIN_ID, verifyingContract: token.address };
  const made = TypedDataEncoder.hashDomain(domain) as Hex;
  separators.set(token.address, made);
  return made;
}
