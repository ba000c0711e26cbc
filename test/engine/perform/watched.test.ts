import { expect, test } from "vitest";
import { NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { watchedBy } from "../../../src/engine/perform/watched.ts";
import { ETH, NOW_MS, POOL, ROUTER, runSample, WBTC } from "../../support/builders.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";
import { swapIn } from "../../support/reading-samples.ts";

const OLD_TOKEN = toAddress(`0x${"5".repeat(40)}`);
const OLD_SPENDER = toAddress(`0x${"6".repeat(40)}`);

test("a simulation that sees no logs looks at every account, token and spender of configuration and rows", async () => {
  const life = openLife(createOutside(NOW_MS));
  const grant = { wallet: ACCOUNT, token: OLD_TOKEN, spender: OLD_SPENDER };
  life.store.writeRecord(runSample(), { kind: "grant", ...grant }, 1);
  const swap = swapIn("quoted", { wallet: ACCOUNT, recipient: POOL, sell: ETH, buy: WBTC });
  const { accounts, tokens, spenders } = await watchedBy(life.context, swap);
  expect(accounts).toEqual([ACCOUNT, POOL]);
  expect(new Set(tokens)).toEqual(
    new Set([...life.context.settings.tokens.map(({ address }) => address), WBTC.address, OLD_TOKEN]),
  );
  expect(tokens).not.toContain(NATIVE_TOKEN);
  expect(spenders).toEqual([ROUTER, OLD_SPENDER]);
});
