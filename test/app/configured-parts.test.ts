import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { engineSettings } from "../../src/app/engine-settings.ts";
import { thisMachine } from "../../src/app/machine.ts";
import { connectionOf, openSwapService } from "../../src/app/open-swap-service.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { Secret } from "../../src/net/secret.ts";
import { request } from "../adapters/swap-service/client-fixture.ts";
import { loaded, MAIN, WALLET } from "../config/project.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { VirtualTime } from "../support/virtual-time.ts";

const CONTRACTS = oneContract(toAddress("0x1111111111111111111111111111111111111111"));
const SIGNER = "0x3333333333333333333333333333333333333333";

test("the delegate and the service's signer that a file names are those that the engine checks swaps against", () => {
  const fly = `profile: fly, url: "https://service.example", signer: "${SIGNER}"`;
  const main = MAIN.replace("wallet.pass }", `wallet.pass }, delegate: "${SIGNER}"`);
  const settings = engineSettings(
    loaded({ "main.yaml": main.replace("profile: swapd, url: embedded", fly) }),
    CONTRACTS,
  );
  expect([...(settings.delegates ?? [])]).toEqual([[WALLET, SIGNER]]);
  expect(settings.signer).toBe(SIGNER);
  const plain = engineSettings(loaded(), CONTRACTS);
  expect([plain.signer, [...(plain.delegates ?? [])]]).toEqual([undefined, []]);
});

test("a call of the service ends after the file's own time, whatever the service asked for", async () => {
  const configuration = loaded({ "main.yaml": `${MAIN}timing: { maxCallWait: 30s, maxRetryAfter: 1h }\n` });
  const secrets = { open: () => new Secret("none"), rpcUrls: () => [], signer: undefined, privateKey: () => undefined };
  const connection = connectionOf(configuration, "http://127.0.0.1:1", secrets as never);
  const time = new VirtualTime();
  const header = (name: string): string | null => (name === "retry-after" ? "86400" : null);
  const fetch = async () => ({ status: 429, header, text: "{}" });
  const machine = { ...thisMachine(), clock: time.clock, sharedClock: time.shared(), fetch };
  const heldUntil: (number | undefined)[] = [];
  const { client, close } = openSwapService(
    { ...connection, database: join(temporaryDirectory(), "swapd.db") },
    { logger: silentLogger(), machine },
    { onHeldBack: (untilMs) => heldUntil.push(untilMs) },
  );
  onTestFinished(() => close());
  const quoted = client.quote(request);
  const beganMs = time.clock.nowMs();
  await time.runUntil(time.nowUs() + 45_000_000);
  expect(await Promise.race([quoted, Promise.resolve("it still waits")])).toMatchObject({
    code: "CALL_WAITED_TOO_LONG",
  });
  expect(((heldUntil.at(-1) ?? 0) - beganMs) / 60_000).toBeCloseTo(60, 0);
});
