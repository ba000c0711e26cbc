import { keccak256 } from "ethers";
import { malformedAnswer } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import { isHex, toAddress } from "../../domain/money/address.ts";
import type { NetworkOptions, PublicRouter } from "../options.ts";
import { kindOf } from "../pools/kinds.ts";
import type { RouterForm, RouterMaker } from "../pools/pool.ts";
import { readViews, WrongContractsError } from "./views.ts";

type Routed = Pick<NetworkOptions, "name" | "wrappedNative" | "protocols"> & { readonly router: PublicRouter };

const NAMES: Readonly<Record<RouterMaker, string>> = {
  uniswap: "Uniswap's SwapRouter02",
  pancakeswap: "PancakeSwap's SmartRouter",
  slipstream: "Slipstream's SwapRouter",
  solidly: "Solidly's router",
};

/**
 * Holds a public router against the facts of its network: its code where its hash is stated, the wrapped native token, and
 * the factories whose pools it computes. Some routers are older than one of the factories: they do without its pools.
 * @returns the places of the protocols that it trades with
 * @throws WrongContractsError that names the first difference; RpcError when the node does not answer properly
 */
export async function verifyRouter(rpc: JsonRpc, network: Routed): Promise<ReadonlySet<number>> {
  const { router, protocols } = network;
  const { isSolidly, wrapped, factories } = await ownWords(rpc, network);
  const wrong = wrongRouter(network);
  if (wrapped !== network.wrappedNative) throw wrong(`wraps into ${wrapped}, not ${network.wrappedNative}`);
  if (router.codeHash !== undefined) {
    const [code] = await rpc.batch([{ method: "eth_getCode", params: [router.address, "latest"] }]);
    if (code instanceof RpcError) throw code;
    if (!isHex(code)) throw malformedAnswer(rpc.host, "the node's answer to eth_getCode is no bytes");
    const hash = keccak256(code);
    if (hash !== router.codeHash) throw wrong(`has code with the hash ${hash}, not ${router.codeHash}`);
  }
  const usable = protocols.flatMap((protocol, place) => {
    const hop = kindOf(protocol).router;
    return hop !== undefined && factories[hop.form] === protocol.factory ? [{ ...protocol, ...hop, place }] : [];
  });
  if (usable.length === 0) {
    const its = `pools of ${[factories.v3, factories.v2].filter((factory) => factory !== "").join(" and ")}`;
    throw wrong(`trades with ${its}, and the network's factories are none of them`);
  }
  const maker = makerOf(network, usable);
  checkMaker(network, { maker, isSolidly, hasV2: factories.v2 !== "" });
  await verifyDeployer(rpc, network, usable);
  return new Set(usable.map(({ place }) => place));
}

/** What a router says of itself; no factory where it has none of a form. */
interface OwnWords {
  readonly isSolidly: boolean;
  readonly wrapped: string;
  readonly factories: Readonly<Record<RouterForm, string>>;
}

/** Solidly's router has names of its own for what it wraps into, and for its factory. */
async function ownWords(rpc: JsonRpc, { name, router }: Routed): Promise<OwnWords> {
  const what = Object.values(NAMES).join(", or ");
  const own = await readViews(rpc, { name, contract: router.address, what }, [
    { view: "WETH9" },
    { view: "factory" },
    { view: "factoryV2", isOptional: true },
    { view: "weth", isOptional: true },
    { view: "defaultFactory" },
  ]);
  const isSolidly = own(3) !== "";
  return isSolidly
    ? { isSolidly, wrapped: own(3), factories: { v3: "", v2: own(4) } }
    : { isSolidly, wrapped: own(0), factories: { v3: own(1), v2: own(2) } };
}

/** A router has the views of its maker, and no others. */
function checkMaker(
  network: Routed,
  { maker, isSolidly, hasV2 }: { maker: RouterMaker; isSolidly: boolean; hasV2: boolean },
): void {
  const wrong = wrongRouter(network);
  if (isSolidly !== (maker === "solidly"))
    throw wrong(`${isSolidly ? "has a" : "has no"} defaultFactory(): is this ${NAMES[maker]}?`);
  if (hasV2 === (maker === "slipstream"))
    throw wrong(`${hasV2 ? "has a" : "has no"} factoryV2(): is this ${NAMES[maker]}?`);
}

function wrongRouter({ name, router }: Routed): (difference: string) => Error {
  return (difference) =>
    new WrongContractsError(`the router ${router.address} on ${name} ${difference}: correct the addresses`);
}

interface Usable {
  readonly maker: RouterMaker;
  readonly form: RouterForm;
  readonly factory: string;
}

/** A router is of one maker, and so are the kinds of its pools. */
function makerOf(network: Routed, usable: readonly Usable[]): RouterMaker {
  const [maker, ...others] = new Set(usable.map((one) => one.maker));
  if (maker !== undefined && others.length === 0) return maker;
  const both = [maker, ...others].map((one) => one && NAMES[one]).join(" and ");
  throw wrongRouter(network)(
    `trades with pools of kinds for ${both}, and it is one of them: the kind of a factory is wrong`,
  );
}

/**
 * PancakeSwap's router computes the addresses of the pools from who deploys them, apart from the factory that knows them:
 * both must mean the same. Slipstream's asks the factory for what its pools are proxies of.
 */
async function verifyDeployer(rpc: JsonRpc, network: Routed, usable: readonly Usable[]): Promise<void> {
  const { name, router } = network;
  const factory = usable.find(({ maker, form }) => maker === "pancakeswap" && form === "v3")?.factory;
  if (factory === undefined) return;
  const what = NAMES.pancakeswap;
  const own = await readViews(rpc, { name, contract: router.address, what }, [{ view: "deployer" }]);
  const its = await readViews(rpc, { name, contract: toAddress(factory), what: "PancakeSwap's factory" }, [
    { view: "poolDeployer" },
  ]);
  const wrong = wrongRouter(network);
  if (own(0) !== its(0)) throw wrong(`computes pools of the deployer ${own(0)}, and its factory's is ${its(0)}`);
}
