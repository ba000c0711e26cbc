import { type Claim, missing } from "./claims.ts";

const CONFIG = "--config ~/operated/swapd.yaml";
const INIT = 'npx swapd init --dir ~/operated --yes --network base --sell "25 USDC" --buy WETH --at "every 5s"';
const DOCTOR = `(npx swapd doctor ${CONFIG} || [ $? -eq 1 ])`;

/** What needs an engine that runs containers, or a program or place that a bare machine has not. */
const untyped = (because: string, ...commands: readonly string[]): readonly Claim[] =>
  commands.map((command) => ({ command, typed: () => undefined, because }));
const IN_A_CONTAINER = "it needs a container engine; test/e2e/compose.long.test.ts does it with processes";

/** One for each command of docs/OPERATIONS.md that stands in a block or names npm, node or docker. */
export const OPERATIONS_CLAIMS: readonly Claim[] = [
  ...untyped("endpoints are the reader's", "echo 'RPC_1=https://...' > .env"),
  ...untyped(
    IN_A_CONTAINER,
    "docker compose run --rm -v ./config:/config swapd init",
    "docker compose run --rm swapd check",
    "docker compose up -d",
    "docker compose exec swapd swapd status",
    "docker compose run --rm -v ./config:/config swapd init --yes --wallet new",
    "docker compose exec swapd swapd db check",
    "docker compose exec swapd swapd db accept",
    "docker compose cp swapd:/data/copy.db .",
    "docker compose stop swapd",
    "docker compose exec swapd swapd doctor",
    "docker compose exec swapd swapd backup --to /data/before.db",
    "docker compose cp swapd:/data/before.db .",
    "docker compose cp swapd:/data/before.db.service .",
    "docker compose up -d --build",
    "docker compose exec swapd swapd check",
  ),
  ...untyped("only the image runs as that user", "sudo chown 1000 config"),
  { command: "npm ci", limitSeconds: 300 },
  {
    command: "node bin/swapd.js start --config swapd.yaml",
    before: (visit) => visit.connect(),
    typed: () => `${INIT} && node bin/swapd.js start ${CONFIG} --for 20s`,
    because: "with the file that init writes, for seconds, not for months",
    broken: (ended) => missing(ended, ['"mode":"paper"', '"msg":"the daemon is up"']),
  },
  {
    command: "swapd login",
    typed: () => `npx swapd login ${CONFIG}`,
    because: "in the checkout",
    broken: (ended) => missing(ended, [/mode paper/]),
  },
  {
    command: "swapd login --scope read",
    typed: () => `npx swapd login --scope read ${CONFIG}`,
    because: "in the checkout",
    broken: (ended) => missing(ended, [/mode paper/]),
  },
  ...untyped(
    "test/e2e/rehearsal.long.test.ts rehearses on a fork",
    "npx swapd sandbox --config swapd.yaml --fork-url env:RPC_1",
  ),
  ...untyped(
    "a bare machine has no such program; test/support/signer-double answers as it does",
    "web3signer --http-listen-host=127.0.0.1 --http-listen-port=9000 --key-store-path=keys eth1 --chain-id=8453",
  ),
  {
    command: "docker compose exec swapd node /app/bin/swapd.js backup --config /config/swapd.yaml --to /data/copy.db",
    typed: () => `npx swapd backup ${CONFIG} --to ~/copy.db && ls ~/copy.db`,
    because: "on the host",
  },
  {
    command: "docker compose run --rm swapd restore /data/copy.db",
    typed: () => `npx swapd restore ~/copy.db ${CONFIG}`,
    because: "on the host",
    broken: (ended) => missing(ended, ["the next start checks it against the chain"]),
  },
  ...untyped(
    "a reader of a bare machine has no such user; test/app/move-in-a-container.test.ts does it with processes",
    "mkdir back && mv copy.db* back/",
    "sudo chown -R 1000 back",
    "docker compose run --rm -v ./back:/back swapd restore /back/copy.db",
    "mkdir move && sudo chown 1000 move",
    "docker compose run --rm -v ./move:/move swapd backup --to /move/copy.db",
    "docker compose run --rm -v ./move:/move --entrypoint cp swapd -r /identity /move/",
    "docker compose down",
    "sudo chown -R 1000 move",
    "docker compose run --rm -v ./move:/move --entrypoint cp swapd -r /move/identity/. /identity/",
    "docker compose run --rm -v ./move:/move swapd restore /move/copy.db",
    "docker compose exec swapd",
  ),
  {
    command: "swapd doctor",
    typed: () => DOCTOR,
    because: "in the checkout; 1 says that something is to be mended",
    broken: (ended) => missing(ended, [/^ok +/m]),
  },
  {
    command: "swapd backup --to /elsewhere/swapd.db",
    typed: () => `mkdir -p ~/elsewhere && npx swapd backup ${CONFIG} --to ~/elsewhere/swapd.db`,
    because: "in the checkout",
  },
  {
    command: "swapd check && swapd doctor",
    typed: () => `npx swapd check ${CONFIG} && ${DOCTOR}`,
    because: "in the checkout",
    broken: (ended) => missing(ended, ["the files are in order"]),
  },
];
