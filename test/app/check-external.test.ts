import { expect, test } from "vitest";
import { checkExternal } from "../../src/app/check-external.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { dcaSpec, rebalanceSpec, USDC, WETH } from "../support/builders.ts";

const VAULT = toAddress(`0x${"c".repeat(40)}`);
const EMPTY = toAddress(`0x${"d".repeat(40)}`);

test("REB-29 swapd check shows what is counted elsewhere, and warns of an address that holds nothing", async () => {
  const watched = [
    { address: VAULT, tokens: [WETH, USDC] },
    { address: EMPTY, tokens: [WETH, USDC] },
  ];
  const specs = [dcaSpec(), rebalanceSpec({ external: { watched, stated: [] } })];
  const strategies = specs.map((spec) => ({ spec, file: "x.yaml", hash: "h" }));
  const chain = {
    balance: async (token: string, owner: string) =>
      owner === VAULT && token === WETH.address ? 25n * 10n ** 17n : 0n,
  };
  expect(await checkExternal({ configuration: { strategies }, chain })).toEqual([
    { what: "strategy mix", found: `counts 2.5 WETH of ${VAULT}`, whatToDo: undefined },
    {
      what: "strategy mix",
      found: `counts ${EMPTY}, which holds nothing of WETH, USDC: is it the right address?`,
      whatToDo: undefined,
      isWarning: true,
    },
  ]);
});

test("a token that refuses is named, and what lies elsewhere of the others is shown", async () => {
  const watched = [VAULT, EMPTY].map((address) => ({ address, tokens: [WETH, USDC] }));
  const strategies = [{ spec: rebalanceSpec({ external: { watched, stated: [] } }), file: "x.yaml", hash: "h" }];
  const chain = {
    balance: async (token: string, owner: string) => {
      if (token === USDC.address) throw new ChainReadError("reverted", `${token} refuses balanceOf: the call reverts`);
      return owner === VAULT ? 25n * 10n ** 17n : 0n;
    },
  };
  const found = await checkExternal({ configuration: { strategies }, chain });
  expect(found.map(({ what, found: text, whatToDo }) => [what, text.slice(0, 40), whatToDo?.slice(0, 31)])).toEqual([
    ["strategy mix", `not known of USDC: ${USDC.address}`.slice(0, 40), "the token refuses, not the node"],
    ["strategy mix", `counts 2.5 WETH of ${VAULT}`.slice(0, 40), undefined],
    ["strategy mix", `not known of USDC: ${USDC.address}`.slice(0, 40), "the token refuses, not the node"],
  ]);
});
