import { expect, test } from "vitest";
import { type Rehearsal, rehearsalOf, unfitForRehearsal } from "../../src/app/rehearsal-configuration.ts";
import { type Address, toAddress } from "../../src/domain/money/address.ts";
import { DCA, loaded, MAIN, WALLET } from "../config/project.ts";

const COPY: Address = toAddress("0x00000000000000000000000000000000000000c1");
const REHEARSAL: Rehearsal = {
  rpcUrl: "http://127.0.0.1:4711",
  directory: "/tmp/rehearsal",
  listen: { service: { host: "127.0.0.1", port: 0 }, status: { host: "127.0.0.1", port: 0 } },
  copies: new Map([["main", { address: COPY, key: "COPY_KEY" }]]),
  relayer: { address: toAddress("0x00000000000000000000000000000000000000c2"), key: "RELAYER_KEY" },
};

/** Everything in it that is text, keys of maps included. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (value instanceof Map) return [...value].flatMap(textsOf);
  if (value instanceof Set || Array.isArray(value)) return [...value].flatMap(textsOf);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

test("a rehearsal reaches nothing of the network, opens no key of the user's, and has copies wherever a wallet stood", () => {
  const own = loaded({
    "main.yaml": `${MAIN.replace("rpc: [{ env: RPC_1 }]", "rpc: [{ env: RPC_1 }], submit: [{ env: SUBMIT_1 }]")}alerts: { webhook: { url: { env: HOOK }, secret: { env: HOOK_SECRET } } }
serve: { relayer: { keystore: { file: relayer.json }, password: { file: relayer.pass } }, apiKeys: [{ env: API_KEY }] }
`,
    "strategies/weekly.yaml": `${DCA}recipient: main\n`,
  });
  expect(textsOf(own)).toEqual(expect.arrayContaining(["RPC_1", "SUBMIT_1", "HOOK", "API_KEY"]));
  const rehearsed = rehearsalOf(own, REHEARSAL);
  const texts = textsOf(rehearsed).join("\n");
  for (const secret of ["RPC_1", "SUBMIT_1", "HOOK", "API_KEY", "wallet.pass", "relayer.pass", WALLET])
    expect(texts).not.toContain(secret);
  expect(rehearsed).toMatchObject({
    mode: "live",
    network: { rpc: [{ url: REHEARSAL.rpcUrl }], submit: { kind: "public" }, chainId: own.network.chainId },
    policy: { recipients: [COPY] },
    database: "/tmp/rehearsal/swapd.db",
    identity: "/tmp/rehearsal/identity",
    channels: [],
  });
  expect(rehearsed.wallets.get("main")).toMatchObject({
    address: COPY,
    key: { kind: "raw", privateKey: { env: "COPY_KEY" } },
  });
  expect(rehearsed.strategies[0]?.spec).toMatchObject({ wallet: { address: COPY }, recipient: COPY });
});

test("what cannot be rehearsed says why: orders of another service would be filled on the network", () => {
  const own = loaded({});
  expect(unfitForRehearsal(own)).toBeUndefined();
  const elsewhere = { ...own, service: { ...own.service, url: "https://service.example" } };
  expect(unfitForRehearsal(elsewhere)).toContain("https://service.example");
  const [name, wallet] = [...own.wallets][0] ?? [];
  if (name === undefined || wallet === undefined) throw new Error("there is no wallet");
  const proposals = { folder: "/tmp", service: undefined };
  const asked = { ...own, wallets: new Map([[name, { ...wallet, proposals }]]) };
  expect(unfitForRehearsal(asked)).toContain("its wallet main is a Safe");
});
