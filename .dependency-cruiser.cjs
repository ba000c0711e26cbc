/**
 * Who may import whom. One row a room of the house (docs/ARCHITECTURE.md shows the same table): imports point inwards, so
 * that what decides about money never depends on what talks to the outside.
 */
const ROOMS = {
  domain: [],
  ports: ["domain"],
  net: ["domain"],
  networks: ["domain/money"],
  chain: ["domain", "net", "networks", "ports"],
  config: ["domain", "networks"],
  storage: [],
  lane: ["domain", "ports"],
  engine: ["domain", "lane", "ports"],
  adapters: ["chain", "domain", "lane", "net", "ports", "storage"],
  service: ["chain", "domain/chain", "domain/money", "domain/time", "lane", "net", "networks", "ports", "storage"],
  sandbox: ["domain/money", "net", "networks"],
  audit: ["domain/money", "domain/time", "net"],
  app: [
    "domain",
    "ports",
    "net",
    "networks",
    "chain",
    "config",
    "storage",
    "lane",
    "engine",
    "adapters",
    "service",
    "sandbox",
    "audit",
  ],
};

/** Rooms that touch nothing outside the program: neither packages nor Node's own modules. */
const PURE = ["domain", "networks", "ports", "lane", "engine"];

/** Packages that belong to one place, because what they do must be done in one place. */
const KEPT = [
  { package: "yaml", place: "^src/config/", why: "only the configuration reads YAML" },
  { package: "node-cron", place: "^src/adapters/cron/", why: "node-cron only ticks" },
  { package: "undici", place: "^src/net/", why: "every call over HTTP is bounded, and that in one place" },
  {
    package: "better-sqlite3",
    place: "^src/(storage|adapters|service/store|audit)/",
    why: "databases are opened by storage, and read by the audit on its own",
  },
];

const roomRules = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `room-${room}`,
  comment: `src/${room} may import ${allowed.length === 0 ? "nothing of ours" : allowed.join(", ")}`,
  severity: "error",
  from: { path: `^src/${room}/` },
  to: { path: "^src/", pathNot: `^src/(${[room, ...allowed].join("|")})/` },
}));

const pureRules = PURE.map((room) => ({
  name: `pure-${room}`,
  comment: `src/${room} uses no packages and no modules of Node: what it needs of the outside comes in through ports`,
  severity: "error",
  from: { path: `^src/${room}/` },
  to: { pathNot: "^src/" },
}));

const keptRules = KEPT.map((kept) => ({
  name: `kept-${kept.package}`,
  comment: kept.why,
  severity: "error",
  from: { path: "^src/", pathNot: kept.place },
  to: { path: `node_modules/(@types/)?${kept.package}(/|$)` },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...roomRules,
    ...pureRules,
    ...keptRules,
    {
      name: "adapters-are-strangers",
      comment: "each folder of src/adapters knows one outside thing and none of its neighbours",
      severity: "error",
      from: { path: "^src/adapters/([^/]+)/" },
      to: { path: "^src/adapters/", pathNot: "^src/adapters/$1/" },
    },
    {
      name: "rows-stay-inside",
      comment: "who is outside of the SQLite adapter knows its ports, and no row store",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/adapters/sqlite/" },
      to: {
        path: "^src/adapters/sqlite/",
        pathNot:
          "^src/adapters/sqlite/(carried-halts|lanes|paper/open-paper-rows|daemon/(access-store|alert-outbox|audit-store|ended-starts|listing|open-store|read-model|recent-copy|schema))\\.ts$",
      },
    },
    {
      name: "swap-services-are-strangers",
      comment: "each swap service is a folder that can be taken out; what several speak alike is in wire",
      severity: "error",
      from: { path: "^src/adapters/swap-service/([^/]+)/" },
      to: { path: "^src/adapters/swap-service/[^/]+/", pathNot: "^src/adapters/swap-service/($1|wire)/" },
    },
    {
      name: "channel-kinds-are-strangers",
      comment: "each kind of channel is a file or a folder that can be taken out",
      severity: "error",
      from: { path: "^src/adapters/notify/channels/([^/.]+)" },
      to: { path: "^src/adapters/notify/channels/", pathNot: "^src/adapters/notify/channels/$1[./]" },
    },
    {
      name: "no-ethers-on-the-hot-path",
      comment: "a quote is computed from raw words: decoding through ethers costs more than the route itself",
      severity: "error",
      from: { path: "^src/(service/(pools|routing)|chain/at-block)/" },
      to: { path: "node_modules/ethers(/|$)" },
    },
    {
      name: "main-is-the-door",
      comment: "src/main.ts starts the command line and nothing imports it",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^src/main\\.ts$" },
    },
    {
      name: "main-only-starts-app",
      comment: "composition lives in src/app",
      severity: "error",
      from: { path: "^src/main\\.ts$" },
      to: { path: "^src/", pathNot: "^src/app/" },
    },
    {
      name: "every-file-in-a-room",
      comment: "src holds main.ts and the rooms of the table, nothing else",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/(main\\.ts$|(${Object.keys(ROOMS).join("|")})/)` },
      to: {},
    },
    {
      name: "src-stands-alone",
      comment: "the program needs no tests, benchmarks, scripts or contract tooling to run",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|scripts|contracts|dashboard)/" },
    },
    {
      name: "no-cycles",
      comment: "files that import each other cannot be read one after the other",
      severity: "error",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "no-orphans",
      comment: "a file that neither imports nor is imported is forgotten",
      severity: "error",
      from: { path: "^src/", orphan: true, pathNot: "^src/main\\.ts$" },
      to: {},
    },
    {
      name: "no-unresolvable",
      comment: "an import that cannot be resolved hides from every other rule",
      severity: "error",
      from: { path: "^src/" },
      to: { couldNotResolve: true },
    },
    {
      name: "no-development-packages",
      comment: "the image is installed without development packages",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"], pathNot: "node_modules/@types/" },
    },
    {
      name: "no-unlisted-packages",
      comment: "a package that package.json does not name may be gone after the next update",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
  ],
  options: {
    // Type imports count: a type that points outwards is a wall that is about to move.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      mainFields: ["module", "main", "types"],
    },
  },
};
