import { randomInt, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Contract, ContractFactory, Interface, id, JsonRpcProvider, NonceManager, Signature, Wallet } from "ethers";
import { readBody } from "../http-server.ts";
import { type Compiled, compileDesk } from "./compile.ts";

/** The chain that the double trades on. */
export interface DeskWorld {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** a Uniswap V2 factory; the double trades through its direct pairs only */
  readonly factory: string;
}

/** A running double of the service that docs/WRITING-A-SERVICE.md describes. */
export interface DeskDouble {
  readonly url: string;
  readonly key: string;
  /** who takes the tokens */
  readonly vault: string;
  /** who is called */
  readonly desk: string;
  /** who checks orders */
  readonly book: string;
  stop(): Promise<void>;
}

interface Offer {
  readonly id: string;
  readonly terms: readonly [
    give: string,
    giveAmount: bigint,
    get: string,
    getAtLeast: bigint,
    to: string,
    until: bigint,
  ];
  readonly gets: bigint;
  readonly number: bigint;
  state: "open" | "filled" | "refused";
  tx: string | null;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const KEY = "key of the desk";
const LIFETIME_SECONDS = 30;
const FIELDS = ["filler", "give", "giveAmount", "get", "getAtLeast", "to", "until", "number"].map((name) => ({
  name,
  type: ["filler", "give", "get", "to"].includes(name) ? "address" : "uint256",
}));

/**
 * Starts the double: deploys its three contracts, gives its filler native coins, and answers in a wire format of its own.
 * It shares no code with what it is a double for.
 */
export async function startDeskDouble(world: DeskWorld): Promise<DeskDouble> {
  const options = { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1, pollingInterval: 100 };
  const provider = new JsonRpcProvider(world.rpcUrl, world.chainId, options);
  const filler = new NonceManager(new Wallet(id(`filler of the desk ${process.pid} ${Date.now()}`), provider));
  const fillerAddress = (await filler.getAddress()).toLowerCase();
  await provider.send("anvil_setBalance", [fillerAddress, `0x${(10n ** 21n).toString(16)}`]);
  const compiled = compileDesk();
  const deploy = async ({ abi, bytecode }: Compiled, ...args: readonly unknown[]): Promise<string> => {
    const contract = await new ContractFactory(abi, bytecode, filler).deploy(...args);
    await contract.waitForDeployment();
    return (await contract.getAddress()).toLowerCase();
  };
  const vault = await deploy(compiled("Vault"));
  const desk = await deploy(compiled("Desk"), vault, world.factory);
  const book = await deploy(compiled("Book"), vault, world.factory);
  await (await new Contract(vault, compiled("Vault").abi, filler).getFunction("obey")(desk, book)).wait();
  const parts = { world, provider, filler: fillerAddress, offers: new Map<string, Offer>(), vault, desk, book };
  const fill = new Contract(book, compiled("Book").abi, filler).getFunction("fill");
  const trade = new Interface(compiled("Desk").abi);
  const server = createServer(async (request, response) => {
    const { status, body } = await answerTo({ ...parts, fill, trade }, request).catch(() => refuse(500, "BROKEN"));
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, key: KEY, vault, desk, book },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      provider.destroy();
    },
  };
}

interface Parts {
  readonly world: DeskWorld;
  readonly provider: JsonRpcProvider;
  readonly filler: string;
  readonly offers: Map<string, Offer>;
  readonly vault: string;
  readonly desk: string;
  readonly book: string;
  readonly fill: ReturnType<Contract["getFunction"]>;
  readonly trade: Interface;
}

function refuse(status: number, problem: string): Answer {
  return { status, body: { problem, detail: `the desk says ${problem}` } };
}

async function answerTo(parts: Parts, request: IncomingMessage): Promise<Answer> {
  if (request.headers.authorization !== `Bearer ${KEY}`) return refuse(401, "NO_KEY");
  const body = request.method === "POST" ? (JSON.parse(await readBody(request)) as Record<string, string>) : {};
  const [, , what, name = "", part] = (request.url ?? "").split("/");
  if (what === "wallets") return { status: 200, body: countsOf(parts) };
  if (what !== "offers") return refuse(404, "NO_SUCH_PLACE");
  if (name === "" && request.method === "POST") return await makeOffer(parts, body);
  const offer = parts.offers.get(name);
  if (offer === undefined) return refuse(404, "NO_SUCH_OFFER");
  if (part === "call") return { status: 200, body: callOf(parts, offer) };
  if (part === "route") return { status: 200, body: [{ through: "its pair", share: "1" }] };
  if (part === "order") return await takeOrder(parts, offer, body);
  return { status: 200, body: { state: offer.state, tx: offer.tx } };
}

async function makeOffer(parts: Parts, asked: Record<string, string>): Promise<Answer> {
  const { give = "", get = "", amount = "", slippage_bps: bps = "", to = "", chain } = asked;
  if (Number(chain) !== parts.world.chainId) return refuse(400, "WRONG_CHAIN");
  const gets = await outputOf(parts, { give, get, amount: BigInt(amount) });
  // The desk says so in a good answer.
  if (gets === undefined) return { status: 200, body: { offer: null, why: "NO_STOCK" } };
  const getAtLeast = (gets * (10_000n - BigInt(bps)) + 9_999n) / 10_000n;
  const { timestamp = 0 } = (await parts.provider.getBlock("latest")) ?? {};
  const until = BigInt(timestamp + LIFETIME_SECONDS);
  const number = BigInt(randomInt(1, 2 ** 40));
  const terms = [give, BigInt(amount), get, getAtLeast, to, until] as const;
  const offer: Offer = { id: randomUUID(), terms, gets, number, state: "open", tx: null };
  parts.offers.set(offer.id, offer);
  const shown = { id: offer.id, gets: String(gets), until: Number(until), approve: parts.vault, call: parts.desk };
  const order = String(asked.signed) === "true" ? orderOf(parts, offer) : null;
  return { status: 200, body: { offer: { ...shown, order } } };
}

async function outputOf(
  { world, provider }: Parts,
  { give, get, amount }: { give: string; get: string; amount: bigint },
): Promise<bigint | undefined> {
  const factory = new Contract(world.factory, ["function getPair(address,address) view returns (address)"], provider);
  const pair: string = await factory.getFunction("getPair")(give, get);
  if (BigInt(pair) === 0n) return undefined;
  const abi = ["function getReserves() view returns (uint112, uint112, uint32)"];
  const [reserve0, reserve1]: [bigint, bigint] = await new Contract(pair, abi, provider).getFunction("getReserves")();
  const [reserveIn, reserveOut] = give.toLowerCase() < get.toLowerCase() ? [reserve0, reserve1] : [reserve1, reserve0];
  return (amount * 997n * reserveOut) / (reserveIn * 1_000n + amount * 997n);
}

function orderOf({ world, filler, book }: Parts, { terms, number }: Offer): object {
  const values = [filler, ...terms, number].map(String);
  return {
    domain: { name: "Desk Book", version: "1", chainId: world.chainId, verifyingContract: book },
    types: { Order: FIELDS },
    message: Object.fromEntries(FIELDS.map(({ name }, index) => [name, values[index]])),
  };
}

function callOf({ world, desk, trade }: Parts, { terms }: Offer): object {
  return { to: desk, data: trade.encodeFunctionData("trade", [terms]), value: "0", chain: world.chainId };
}

/** The same order twice is filled once; whether it is filled at all, the book decides. */
async function takeOrder({ fill }: Parts, offer: Offer, body: Record<string, unknown>): Promise<Answer> {
  if (offer.tx !== null) return { status: 200, body: { order: offer.id } };
  const permit = body.permit as { signature: string; until: number } | null;
  const split = (signature: string) => {
    const { v, r, s } = Signature.from(signature);
    return [v, r, s];
  };
  const none = [0, `0x${"0".repeat(64)}`, `0x${"0".repeat(64)}`];
  const args = [split(String(body.signature)), permit === null ? none : split(permit.signature), permit?.until ?? 0];
  const sent = await fill(offer.terms, offer.number, ...args, { gasLimit: 500_000n });
  offer.tx = sent.hash;
  void sent.wait().then(
    () => {
      offer.state = "filled";
    },
    () => {
      offer.state = "refused";
    },
  );
  return { status: 200, body: { order: offer.id } };
}

function countsOf({ offers }: Parts): Record<string, number> {
  const counts = { open: 0, filled: 0, refused: 0 };
  for (const { state } of offers.values()) counts[state] += 1;
  return counts;
}
