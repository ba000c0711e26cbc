import { expect, onTestFinished, test } from "vitest";
import { checkRouters } from "../../src/app/check-routers.ts";
import { createRuntime } from "../../src/app/runtime.ts";
import { base } from "../../src/networks/base.ts";
import { createRpc } from "../../src/sandbox/rpc.ts";
import { loaded, MAIN } from "../config/project.ts";
import { startForeignChain } from "../support/foreign-chain.ts";

const SETTLEMENT = ', settlement: "0x1111111111111111111111111111111111111111"';
const ROUTED = MAIN.replace(SETTLEMENT, "");

test("a public router is what the network's facts say, or what is wrong with it is said, and what that means", async () => {
  const chain = await startForeignChain(base, { withSlipstream: true });
  onTestFinished(() => chain.stop());
  const check = async (main = ROUTED, env = { RPC_1: chain.rpcUrl }) =>
    await checkRouters(loaded({ "main.yaml": main }, env), createRuntime({ level: "error", env }));
  const rpc = createRpc(chain.rpcUrl);
  const [first, further] = [base.router, base.furtherRouters[0]?.address];

  // Solidly's router is not on this chain.
  const [own, slipstream, solidly, ...others] = await check();
  expect(own).toEqual({ what: "public router", found: `${first} is as the network's facts say`, whatToDo: undefined });
  expect(slipstream?.found).toBe(`${further} is as the network's facts say`);
  expect(slipstream?.isWarning).toBeUndefined();
  expect(solidly).toMatchObject({ what: "further public router", whatToDo: undefined, isWarning: true });
  expect(solidly?.found).toMatch(/routes do without it$/);
  expect(others).toEqual([]);

  // Code is there, and it is not a router's.
  const code = await rpc.call("eth_getCode", base.wrappedNative, "latest");
  await rpc.call("anvil_setCode", further, code);
  const [stays, another] = await check();
  expect([stays?.whatToDo, stays?.isWarning]).toEqual([undefined, undefined]);
  expect(another).toMatchObject({ whatToDo: undefined, isWarning: true });
  expect(another?.found).toContain(String(further));
  await rpc.call("anvil_setCode", first, code);
  const [wrong] = await check();
  expect(wrong?.whatToDo).toMatch(/^nothing is quoted: correct/);
  expect(wrong?.found).toContain(String(first));

  // Swaps that settle elsewhere need none.
  expect(await check(MAIN)).toEqual([]);

  for (const unread of await check(ROUTED, { RPC_1: "http://127.0.0.1:1" })) {
    expect(unread).toMatchObject({ whatToDo: undefined, isWarning: true });
    expect(unread.found).toMatch(/^not read: /);
    expect(unread.found).not.toContain("routes do without it");
  }
});

test("one endpoint that is wrong about a router is held against the others, and what each says is told", async () => {
  const [right, wrong] = await Promise.all([startForeignChain(base), startForeignChain(base)]);
  onTestFinished(async () => void (await Promise.all([right.stop(), wrong.stop()])));
  const rpc = createRpc(wrong.rpcUrl);
  await rpc.call("anvil_setCode", base.router, await rpc.call("eth_getCode", base.wrappedNative, "latest"));
  const two = ROUTED.replace("rpc: [{ env: RPC_1 }]", "rpc: [{ env: RPC_1 }, { env: RPC_2 }]");
  const check = async (RPC_1: string, RPC_2: string) => {
    const env = { RPC_1, RPC_2 };
    const runtime = createRuntime({ level: "error", env });
    return (await checkRouters(loaded({ "main.yaml": two }, env), runtime))[0];
  };
  for (const urls of [
    [wrong.rpcUrl, right.rpcUrl],
    [right.rpcUrl, wrong.rpcUrl],
  ] as const) {
    const found = await check(...urls);
    expect(found?.whatToDo).toMatch(/^take the endpoint that is wrong out of network.rpc/);
    expect(found?.found).toContain(`${new URL(right.rpcUrl).host} says: as it should be`);
    expect(found?.found).toContain(`${new URL(wrong.rpcUrl).host} says: the contract at ${base.router} on base`);
  }
  const same = await check(wrong.rpcUrl, wrong.rpcUrl);
  expect(same?.found).toMatch(/^the contract at /);
  expect(same?.whatToDo).toMatch(/^nothing is quoted/);
  const away = "http://127.0.0.1:1";
  expect(await check(away, right.rpcUrl)).toMatchObject({ found: `${base.router} is as the network's facts say` });
  expect((await check(away, wrong.rpcUrl))?.found).toMatch(/not read: .*; .* says: the contract at /);
});

test("where no contract of ours can be, none is advised, and what serves quotes is named", async () => {
  const main = ROUTED.replace("name: base", "name: zksync")
    .replace("mode: live", "mode: dry-run")
    .replaceAll(/address: "0x(?:83|42)\w+"/g, "address: preset");
  const runtime = createRuntime({ level: "error", env: {} });
  const asked = async (text: string) => await checkRouters(loaded({ "main.yaml": text }), runtime);
  const [{ found, whatToDo } = {}] = await asked(main);
  expect(found).toBe("there is none");
  expect(whatToDo).toMatch(
    /^zksync is unsupported by .*; for quotes alone: swapd serve --network zksync --rpc env:RPC$/,
  );
  // Contracts of somebody else may be there.
  const named = main.replace("url: embedded", `url: embedded${SETTLEMENT}`);
  expect(await asked(named)).toEqual([]);
  expect(
    await asked(main.replace("profile: swapd, url: embedded", "profile: swapd, url: https://swaps.example")),
  ).toEqual([]);
});
