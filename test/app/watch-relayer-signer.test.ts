import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RemoteSigner } from "../../src/adapters/remote-signer/remote-signer.ts";
import { addressOnly } from "../../src/app/open-secrets.ts";
import { createRuntime } from "../../src/app/runtime.ts";
import { startDaemon } from "../../src/app/start-daemon.ts";
import { startEmbeddedService } from "../../src/app/start-embedded-service.ts";
import { watchRelayerSigner } from "../../src/app/watch-relayer-signer.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { SigningError } from "../../src/domain/signing-error.ts";
import { loaded, MAIN, WALLET } from "../config/project.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { NOW_MS } from "../support/builders.ts";
import { createOutside } from "../support/engine-life.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const RELAYER = toAddress(`0x${"5".repeat(40)}`);
const AWAY = new SigningError("away", "the signer at vault:9000 does not answer");

test("a signer that lists its accounts and does not sign is in trouble, and not absent: a further signature tells", async () => {
  const { clock } = createOutside(NOW_MS);
  const watch = watchRelayerSigner(clock);
  let looked: SigningError | undefined = AWAY;
  const looking = watch.keepLooking({ whyUnable: async () => looked } as RemoteSigner);
  await clock.advance(1);
  expect([watch.absence(), watch.trouble()]).toEqual([AWAY.message, AWAY.message]);
  looked = undefined;
  await clock.advance(10_000);
  expect([watch.absence(), watch.trouble()]).toEqual([undefined, undefined]);
  watch.heard(AWAY);
  await clock.advance(60_000);
  expect([watch.absence(), watch.trouble()], "after a look that found its accounts").toEqual([undefined, AWAY.message]);
  watch.heard(undefined);
  expect(watch.trouble()).toBeUndefined();
  watch.heard(AWAY);
  await clock.advance(660_000);
  expect(watch.trouble(), "after minutes in which nothing was asked").toBeUndefined();
  watch.stop();
  await clock.advance(60_000);
  await looking;
});

test("a relayer's signer that is away is told by the service's figures and by the daemon's alerts, and no swap is taken", async () => {
  const anvil = await startBareAnvil({ chainId: 8453 });
  await anvil.rpc.call("anvil_setBalance", [RELAYER, "0x8ac7230489e80000"]);
  const relayer = `relayer: { signer: { url: "http://127.0.0.1:9", address: "${RELAYER}", timeout: 1s } }`;
  const serve = `serve: { listen: "127.0.0.1:0", metrics: "127.0.0.1:0", database: service.db, ${relayer} }`;
  const configuration = loaded(
    { "main.yaml": `${MAIN}http: { listen: 127.0.0.1:0 }\n${serve}\n` },
    { RPC_1: anvil.url },
  );
  const logFile = join(temporaryDirectory(), "log");
  const runtime = createRuntime({ level: "warn", env: { RPC_1: anvil.url }, logFile });
  const service = await startEmbeddedService(configuration, runtime);
  onTestFinished(() => service.stop());
  const figures = async (): Promise<string> => (await fetch(`${service.metricsUrl}/metrics`)).text();
  await expect.poll(figures, { timeout: 10_000 }).toContain('swapd_service_relayer_signer_ready{network="base"} 0');
  await expect.poll(() => readFileSync(logFile, "utf8"), { timeout: 10_000 }).toContain("takes no gasless swaps");
  // The wallet has no key here: only the relayer's signer is looked at.
  const secrets = { ...runtime.secrets, signer: async () => addressOnly(toAddress(WALLET)) };
  const daemon = await startDaemon(configuration, service.url, { ...runtime, secrets });
  onTestFinished(() => daemon.stop());
  const readiness = async (): Promise<unknown> => (await fetch(`${daemon.url}/readyz`)).json();
  await expect.poll(readiness, { timeout: 10_000 }).toMatchObject({ signer: { away: ["the relayer"] } });
  const own = await (await fetch(`${daemon.url}/metrics`)).text();
  expect(own).toMatch(/^swapd_signer_ready\{wallet="the relayer"\} 0$/m);
});
