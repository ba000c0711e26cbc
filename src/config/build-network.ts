import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { NETWORKS } from "../networks/book.ts";
import { hubTokensOf, type Network, type PriceFeed } from "../networks/network.ts";
import { addTwaps } from "./build-twap.ts";
import { checkShape } from "./check-shape.ts";
import { closest } from "./closest.ts";
import type { NetworkConfiguration, RpcEndpoint, TokenConfiguration } from "./configuration.ts";
import { DEFAULTS } from "./defaults.ts";
import { readTextFile, resolveFrom } from "./files.ts";
import { networkFromFile } from "./network-file.ts";
import type { Problem } from "./problem.ts";
import { readYaml } from "./read-yaml.ts";
import { absoluteReference } from "./references.ts";
import type { FeedFields, MainFile } from "./schemas/main-schema.ts";
import { presetSchema } from "./schemas/preset-schema.ts";
import { problemAt, type Source } from "./source.ts";

const NATIVE_DECIMALS = 18;

/** The facts of the configured network: built in, or from the preset file. */
export function findPreset(
  source: Source,
  fields: Pick<MainFile["network"], "name" | "preset">,
  problems: Problem[],
): { preset: Network; text: string } | undefined {
  if (fields.preset === undefined) {
    const preset = NETWORKS.get(fields.name);
    if (preset !== undefined) return { preset, text: "" };
    const known = [...NETWORKS.keys()];
    const meant = closest(fields.name, known);
    const suggestion =
      meant === undefined
        ? `built in are ${known.join(", ")}; for another, name its facts with preset: file.json`
        : `did you mean "${meant}"?`;
    problems.push(problemAt(source, ["network", "name"], `the network "${fields.name}" is not built in`, suggestion));
    return undefined;
  }
  const file = resolveFrom(source.file, fields.preset);
  const read = readTextFile(file);
  if ("problem" in read) {
    problems.push(problemAt(source, ["network", "preset"], `the file ${file} ${read.problem}`));
    return undefined;
  }
  const yaml = readYaml(file, read.text);
  problems.push(...yaml.problems);
  if (yaml.source === undefined) return undefined;
  const facts = presetSchema.safeParse(yaml.source.data);
  if (facts.success) return { preset: networkFromFile(facts.data), text: read.text };
  problems.push(...checkShape(presetSchema, yaml.source, { otherKeys: "allowed" }).problems);
  return undefined;
}

/** The contract to sign for: the one that the main file names, else the preset's where the service is our own. */
export function settlementOf(service: MainFile["service"], preset: Network): Address | undefined {
  return service?.settlement ?? ((service?.profile ?? "swapd") === "swapd" ? preset.settlement : undefined);
}

/** The network with its endpoints and the contract to sign for. */
export function buildNetwork(
  source: Source,
  fields: { network: MainFile["network"]; service: MainFile["service"]; mode: "dry-run" | "live" },
  preset: Network,
  problems: Problem[],
): NetworkConfiguration {
  const { network, service } = fields;
  const profile = service?.profile ?? "swapd";
  const settlement = settlementOf(service, preset);
  if (preset.noSettlement !== undefined && fields.mode === "live") {
    const message = `nothing is signed on ${network.name}: ${preset.noSettlement}`;
    problems.push(problemAt(source, ["mode"], message, "stay with mode: dry-run"));
  } else if (settlement === undefined && fields.mode === "live") {
    const message = `no contract to sign for is known on ${network.name} with the profile ${profile}`;
    problems.push(
      problemAt(source, ["service"], message, 'give it as service.settlement: "0x...", or stay with mode: dry-run'),
    );
  }
  return {
    name: network.name,
    chainId: preset.chainId,
    rpc: network.rpc.flatMap((endpoint, index) => buildEndpoint(source, endpoint, index, problems)),
    confirmations: network.confirmations ?? preset.confirmations,
    nativeSymbol: preset.nativeSymbol,
    wrappedNative: preset.wrappedNative,
    settlement,
    executor: profile === "swapd" && settlement === preset.settlement ? preset.executor : undefined,
    protocols: preset.protocols,
    v3FeeTiers: preset.v3FeeTiers,
    dataFee: preset.dataFee,
    hubTokens: hubTokensOf(preset),
    sequencer:
      preset.sequencerFeed === undefined
        ? undefined
        : { address: preset.sequencerFeed, graceSeconds: DEFAULTS.sequencerGraceSeconds },
  };
}

function buildEndpoint(source: Source, endpoint: RpcEndpoint, index: number, problems: Problem[]): RpcEndpoint[] {
  if (!("url" in endpoint)) return [absoluteReference(source, endpoint)];
  const parsed = URL.canParse(endpoint.url) ? new URL(endpoint.url) : undefined;
  const path = ["network", "rpc", index, "url"];
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    problems.push(problemAt(source, path, "is no http or https URL", "write for example http://127.0.0.1:8545"));
    return [];
  }
  const isOrigin =
    parsed.pathname === "/" &&
    parsed.search === "" &&
    parsed.username === "" &&
    parsed.password === "" &&
    parsed.hash === "";
  if (isOrigin) return [{ url: parsed.origin }];
  problems.push(
    problemAt(
      source,
      path,
      "this URL holds more than a host, and that is usually a key",
      "put it into a file or an environment variable: { env: RPC_1 }",
    ),
  );
  return [];
}

/** The tokens by symbol, with the native coin among them. */
export function buildTokens(
  source: Source,
  fields: MainFile["tokens"],
  preset: Network,
  problems: Problem[],
): Map<string, TokenConfiguration> {
  const native = { symbol: preset.nativeSymbol, address: NATIVE_TOKEN, decimals: NATIVE_DECIMALS };
  const tokens = new Map<string, TokenConfiguration>([
    [native.symbol, { token: native, feed: preset.nativeFeed, twap: undefined, peg: undefined }],
  ]);
  const named = new Map<Address, string>([[NATIVE_TOKEN, native.symbol]]);
  for (const [symbol, entry] of Object.entries(fields)) {
    const path = ["tokens", symbol];
    const known = preset.tokens.get(symbol);
    const address = entry.address === "preset" ? known?.address : entry.address;
    if (symbol === "USD" || symbol === native.symbol) {
      const meaning = symbol === "USD" ? "means dollars" : "is the native coin and is known already";
      problems.push(problemAt(source, path, `"${symbol}" ${meaning}`, "give the token another name"));
    } else if (address === undefined) {
      const message = `the preset of this network knows no token "${symbol}"`;
      problems.push(
        problemAt(source, [...path, "address"], message, `it knows ${[...preset.tokens.keys()].join(", ")}`),
      );
    } else if (named.has(address)) {
      problems.push(
        problemAt(source, [...path, "address"], `is the address of ${named.get(address)} too`, "name each token once"),
      );
    } else {
      named.set(address, symbol);
      const expected = [...preset.tokens.values()].find((candidate) => candidate.address === address);
      if (expected !== undefined && expected.decimals !== entry.decimals) {
        problems.push(
          problemAt(
            source,
            [...path, "decimals"],
            `this token has ${expected.decimals} decimals, not ${entry.decimals}`,
            `write ${expected.decimals}`,
          ),
        );
      }
      const feed = buildFeed(source, { symbol, feed: entry.feed, known: expected?.feed }, problems);
      const token = { symbol, address, decimals: entry.decimals };
      tokens.set(symbol, { token, feed, twap: undefined, peg: entry.peg });
    }
  }
  addTwaps(source, fields, tokens, problems);
  return tokens;
}

function buildFeed(
  source: Source,
  from: { symbol: string; feed: FeedFields | undefined; known: PriceFeed | undefined },
  problems: Problem[],
): PriceFeed | undefined {
  const { feed, known } = from;
  if (feed === undefined) return undefined;
  if (feed !== "preset") {
    return {
      address: feed.address,
      heartbeatSeconds: feed.heartbeat,
      marginSeconds: feed.margin ?? DEFAULTS.feedMarginSeconds,
    };
  }
  if (known === undefined) {
    const message = "the preset of this network has no price feed for this token's address";
    problems.push(
      problemAt(source, ["tokens", from.symbol, "feed"], message, 'write { address: "0x...", heartbeat: 1h }'),
    );
  }
  return known;
}
