import { expect, test } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createRemoteSigner } from "../../../src/adapters/remote-signer/remote-signer.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { boundedFetch } from "../../../src/net/bounded-fetch.ts";
import { ANVIL_ACCOUNT, startBareAnvil } from "../../support/bare-anvil.ts";

/** A signer that nobody here wrote: the development node signs transactions for the accounts that it holds. */
test("a transaction that another program signs as it was asked is taken, and mined", async () => {
  const anvil = await startBareAnvil();
  const options = { url: anvil.url, address: ANVIL_ACCOUNT, token: undefined, timeoutMs: 5_000 };
  const signer = createRemoteSigner(options, { clock: systemClock, fetch: boundedFetch });
  expect(await signer.whyUnable()).toBeUndefined();
  const to = toAddress(`0x${"ab".repeat(20)}`);
  const { raw, hash } = await signer.signTransaction({
    ...{ chainId: 31337, nonce: 0, to, data: "0x", value: 5n, gasLimit: 50_000n },
    ...{ maxFeePerGas: 50n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n },
  });
  expect(await anvil.rpc.call("eth_sendRawTransaction", [raw])).toBe(hash);
  await anvil.mine();
  expect(await anvil.rpc.call("eth_getBalance", [to, "latest"])).toBe("0x5");
});
