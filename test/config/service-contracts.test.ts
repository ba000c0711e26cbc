import { describe, expect, it } from "vitest";
import { SERVICE_BOOK } from "../../src/adapters/swap-service/services.ts";
import type { ServicePromises } from "../../src/domain/guard/service-promises.ts";
import type { StatedContracts } from "../../src/domain/guard/swap-contracts.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { brief, DCA, loaded, MAIN, POLICY, problemsOf } from "./project.ts";

const SETTLEMENT = toAddress(`0x${"1".repeat(40)}`);
const SPENDER = toAddress(`0x${"a1".repeat(20)}`);
const TARGET = toAddress(`0x${"a2".repeat(20)}`);
const VERIFYING = toAddress(`0x${"a3".repeat(20)}`);
const NAMED = `spender: "${SPENDER}", target: "${TARGET}", verifyingContract: "${VERIFYING}"`;
const APART = { spender: SPENDER, target: TARGET, verifyingContract: VERIFYING };

/** A service whose contracts are apart, of which it knows some itself. */
function desk(known: StatedContracts = {}): { services: ReadonlyMap<string, ServicePromises> } {
  const promises: ServicePromises = {
    ...{ isOurs: false, hasOneContract: false, contractsOn: () => known, signsTransactions: false },
    ...{
      signatureHasNonce: true,
      idempotentExecuteSwap: false,
      mayBeEmbedded: false,
      takesOrders: true,
      paysAffiliates: true,
    },
  };
  return { services: new Map([...SERVICE_BOOK, ["desk", promises]]) };
}

const mainWith = (service: string): string => MAIN.replace(/^service: .*$/m, `service: { ${service} }`);
const deskWith = (contracts: string): string =>
  mainWith(`profile: desk, url: "https://desk.example"${contracts === "" ? "" : `, ${contracts}`}`);

describe("the contracts of a service", () => {
  it("are the settlement contract, which is spender, target and verifying contract, as ever", () => {
    const { service, network, policy } = loaded();
    expect(service.contracts).toEqual({ spender: SETTLEMENT, target: SETTLEMENT, verifyingContract: SETTLEMENT });
    expect([network.settlement, policy.spenders]).toEqual([SETTLEMENT, [SETTLEMENT]]);
  });

  it("are three where they are named apart, and without a list the owner allows these", () => {
    const { service, policy } = loaded({ "main.yaml": deskWith(NAMED) }, {}, desk());
    expect(service.contracts).toEqual(APART);
    expect(policy.spenders.toSorted()).toEqual([SPENDER, TARGET, VERIFYING]);
  });

  it("are what the file names, then settlement, then what the service's folder knows", () => {
    const both = deskWith(`settlement: "${SETTLEMENT}", spender: "${SPENDER}"`);
    expect(loaded({ "main.yaml": both }, {}, desk(APART)).service.contracts).toEqual({
      ...{ spender: SPENDER, target: SETTLEMENT, verifyingContract: SETTLEMENT },
    });
    expect(loaded({ "main.yaml": deskWith("") }, {}, desk(APART)).service.contracts).toEqual(APART);
    const own = deskWith(`spender: "${SETTLEMENT}"`);
    expect(loaded({ "main.yaml": own }, {}, desk(APART)).service.contracts).toEqual({ ...APART, spender: SETTLEMENT });
  });

  it.each([
    ["target", { ...APART, target: undefined }],
    ["spender", { ...APART, spender: undefined }],
    ["verifyingContract", { ...APART, verifyingContract: undefined }],
  ])("are refused while the %s is not known, and a dry run is not", (missing, known) => {
    const main = deskWith("");
    expect(problemsOf({ "main.yaml": main }, {}, desk(known)).map(brief)).toEqual([
      `4:10 service: no ${missing} is known on base with the profile desk -> give it as service.${missing}: "0x...", or stay with mode: dry-run`,
    ]);
    const dry = main.replace("mode: live", "mode: dry-run");
    expect(loaded({ "main.yaml": dry }, {}, desk(known)).service.contracts).toBeUndefined();
  });

  it.each(["swapd", "fly"])("of %s are one, so naming them apart is refused", (profile) => {
    const main = mainWith(
      `profile: ${profile}, url: "https://one.example", settlement: "${SETTLEMENT}", target: "${TARGET}"`,
    );
    const policy = POLICY.replace("gas_reserve", `spenders: ["${SETTLEMENT}", "${TARGET}"]\ngas_reserve`);
    expect(problemsOf({ "main.yaml": main, "policy.yaml": policy }).map((problem) => problem.message)).toEqual([
      `the profile ${profile} has one contract for all`,
    ]);
  });

  it.each(["spender", "target", "verifyingContract"] as const)(
    "are refused where the owner did not list the %s",
    (role) => {
      const listed = Object.values({ ...APART, [role]: SETTLEMENT }).map((address) => `"${address}"`);
      const policy = POLICY.replace("gas_reserve", `spenders: [${listed.join(", ")}]\ngas_reserve`);
      const name = role === "verifyingContract" ? "verifying contract" : role;
      const problems = problemsOf({ "main.yaml": deskWith(NAMED), "policy.yaml": policy }, {}, desk());
      expect(problems).toMatchObject([
        {
          path: `service.${role}`,
          message: `the ${name} ${APART[role]} is none of the spenders that the policy allows (policy.yaml:5:11)`,
        },
      ]);
    },
  );
});

describe("a service of ours without a settlement contract", () => {
  const ROUTER = toAddress("0x2626664c2603336E57B271c5C0b26F421741e481");
  const unsettled = MAIN.replace(/, settlement: "0x1+"/, "");

  it("settles through the network's public router, which is pinned like any contract", () => {
    const { service, network, policy } = loaded({ "main.yaml": unsettled });
    expect(service.profile).toBe("public-routers");
    expect(service.contracts).toEqual({ spender: ROUTER, target: ROUTER, verifyingContract: ROUTER });
    expect([network.router, network.settlement, network.executor]).toEqual([ROUTER, undefined, undefined]);
    expect(policy.spenders[0]).toBe(ROUTER);
  });

  const SLIPSTREAM = toAddress("0xBE6D8f0d05cC4be24d5167a3eF062215bE6D18a5");

  const SOLIDLY = toAddress("0xcF77a3Ba9A5CA399B7c97c74d54e5b1Beb874E43");

  it("settles through the network's further routers too: all of them are pinned, and nothing else", () => {
    const { service, network, policy } = loaded({ "main.yaml": unsettled });
    expect(service.furtherContracts).toEqual([
      { spender: SLIPSTREAM, target: SLIPSTREAM, verifyingContract: SLIPSTREAM },
      { spender: SOLIDLY, target: SOLIDLY, verifyingContract: SOLIDLY },
    ]);
    expect(network.furtherRouters).toEqual([{ address: SLIPSTREAM }, { address: SOLIDLY }]);
    expect(policy.spenders).toEqual([ROUTER, SLIPSTREAM, SOLIDLY]);
  });

  it("does not where the owner's list of spenders leaves it out, or the file names the one router", () => {
    const listed = loaded({ "main.yaml": unsettled, "policy.yaml": `${POLICY}spenders: ["${ROUTER}"]\n` });
    const named = loaded({ "main.yaml": mainWith(`profile: public-routers, url: embedded, settlement: "${ROUTER}"`) });
    for (const { service, network, policy } of [listed, named]) {
      expect([service.furtherContracts, network.furtherRouters, policy.spenders]).toEqual([[], [], [ROUTER]]);
    }
  });

  it("has nothing for a relayer to settle through", () => {
    const main = `${unsettled}serve: { relayer: { keystore: { file: wallet.json }, password: { file: wallet.pass } } }\n`;
    expect(problemsOf({ "main.yaml": main }).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      "serve.relayer: swaps settle through a public router here, which takes no signed orders",
    ]);
  });

  it("takes another router where one is named", () => {
    const main = mainWith(`profile: public-routers, url: embedded, settlement: "${TARGET}"`);
    expect(loaded({ "main.yaml": main }).network).toMatchObject({ router: TARGET, settlement: undefined });
  });

  it("does not where it is elsewhere: its operator says how it settles", () => {
    const main = unsettled.replace("url: embedded", 'url: "https://one.example"');
    expect(problemsOf({ "main.yaml": main }).map(brief)).toEqual([
      '4:10 service: no contract to sign for is known on base with the profile swapd -> give it as service.settlement: "0x...", or stay with mode: dry-run',
    ]);
  });

  it("takes no orders and pays nobody a share, and a strategy that asks for it is told where", () => {
    const affiliate = `affiliate: { address: "${TARGET}", fee: 0.1% }`;
    const dca = `${DCA}execution: { gasless: only }\n${affiliate}\n`;
    const problems = problemsOf({ "main.yaml": unsettled, "strategies/one.yaml": dca });
    expect(problems.map(({ path }) => path)).toEqual(["execution.gasless", "affiliate"]);
    expect(problems[0]?.message).toContain("swaps settle through a public router, which takes no signed orders");
    const preferred = { "main.yaml": unsettled, "strategies/one.yaml": `${DCA}execution: { gasless: prefer }\n` };
    expect(new Set(loaded(preferred).strategies.map(({ spec }) => spec.gasless))).toEqual(new Set(["never"]));
  });
});

describe("the profile of a service", () => {
  it("that there is not is refused with those that there are, and without an echo", () => {
    expect(problemsOf({ "main.yaml": MAIN.replace("profile: swapd", "profile: swap") }).map(brief)).toEqual([
      '4:21 service.profile: is none of the values known here -> did you mean "swapd"?',
    ]);
    expect(problemsOf({ "main.yaml": deskWith(NAMED) }).map(brief)).toEqual([
      "4:21 service.profile: is none of the values known here -> write swapd or public-routers or fly",
    ]);
  });

  it("that there is not is refused in the policy too", () => {
    const second = 'sources: [feed, service], tolerance: 1%, service: { profile: desk, url: "https://second.example" }';
    const policy = POLICY.replace("sources: [feed], tolerance: 1.5%", second);
    expect(problemsOf({ "policy.yaml": policy }).map((problem) => `${problem.path}: ${problem.suggestion}`)).toEqual([
      "reference.service.profile: write swapd or public-routers or fly",
    ]);
  });
});
