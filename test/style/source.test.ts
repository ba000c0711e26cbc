import ts from "typescript";
import { describe, expect, it } from "vitest";
import { readText, typescriptBelow } from "./support/repository.ts";
import { type Finding, findingAt, isFreeName, lineCount, nodesOf, parseFile } from "./support/syntax.ts";

const MAX_FILE_LINES = 280;
const MAX_FUNCTION_LINES = 70;

const SOURCES = typescriptBelow("src").map(parseFile);

/** Every node of every file, found once for all questions. */
const NODES = new Map(SOURCES.map((file) => [file, [...nodesOf(file)]]));

function below(...rooms: readonly string[]): readonly ts.SourceFile[] {
  return SOURCES.filter(({ fileName }) => rooms.some((room) => fileName.startsWith(`src/${room}/`)));
}

/** Asks a question at every node of some files. */
function find(files: readonly ts.SourceFile[], question: (node: ts.Node) => string | undefined): readonly Finding[] {
  return files.flatMap((file) =>
    (NODES.get(file) ?? []).flatMap((node) => {
      const what = question(node);
      return what === undefined ? [] : [findingAt(node, what)];
    }),
  );
}

function isFunction(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return ts.isFunctionLike(node) && "body" in node && node.body !== undefined;
}

describe("size", () => {
  it(`holds files of src to ${MAX_FILE_LINES} lines`, () => {
    const long = SOURCES.map(({ fileName }) => ({
      place: fileName,
      lines: readText(fileName).trimEnd().split("\n").length,
    })).filter(({ lines }) => lines > MAX_FILE_LINES);
    expect(long).toEqual([]);
  });

  it(`holds functions of src to ${MAX_FUNCTION_LINES} lines, what they contain included`, () => {
    const long = find(SOURCES, (node) =>
      isFunction(node) && lineCount(node) > MAX_FUNCTION_LINES ? `${lineCount(node)} lines` : undefined,
    );
    expect(long).toEqual([]);
  });
});

describe("the ports of the database", () => {
  const PORTS = ["unit-of-work", "retention-store", "alert-store", "read-model", "store"];
  const METHODS_OF = ["UnitOfWork", "RetentionStore", "AlertOutbox", "ReadModel", "Store"];

  it("have at most 25 methods, each behind a promise: rows over a network are read so", () => {
    const members = SOURCES.filter(({ fileName }) => PORTS.some((name) => fileName === `src/ports/${name}.ts`))
      .flatMap((file) => NODES.get(file) ?? [])
      .filter((node) => ts.isInterfaceDeclaration(node) && METHODS_OF.includes(node.name.text))
      .flatMap((node) => (ts.isInterfaceDeclaration(node) ? [...node.members] : []));
    const isAsked = (node: ts.TypeElement): boolean =>
      ts.isMethodSignature(node) && node.type?.getText().startsWith("Promise<") === true;
    expect(members.filter((node) => !isAsked(node)).map((node) => node.getText())).toEqual([]);
    expect(members.length).toBeGreaterThan(0);
    expect(members.length).toBeLessThanOrEqual(25);
  });

  it("are known to at most 20 files where rows are decided on", () => {
    const known = SOURCES.filter(({ text }) => /from "[./a-z]*\/(?:ports\/)?(?:unit-of-work|store)\.ts"/.test(text));
    expect(known.length).toBeGreaterThan(0);
    expect(known.map(({ fileName }) => fileName).slice(20)).toEqual([]);
  });
});

describe("types", () => {
  it("uses `any` nowhere, and silences neither compiler nor linter in src", () => {
    expect(find(SOURCES, (node) => (node.kind === ts.SyntaxKind.AnyKeyword ? "any" : undefined))).toEqual([]);
    const silencers = /@ts-(?:ignore|nocheck|expect-error)|biome-ignore/;
    expect(SOURCES.filter((file) => silencers.test(file.text)).map(({ fileName }) => fileName)).toEqual([]);
  });

  it("exports by name, and only what is declared in the file", () => {
    const found = find(SOURCES, (node) => {
      if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) return "passes another file's export on";
      if (ts.isExportAssignment(node)) return "default export";
      return node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isDefaultClause(node.parent)
        ? "default export"
        : undefined;
    });
    expect(found).toEqual([]);
  });

  it("imports files of its own with their real ending", () => {
    const found = find(SOURCES, (node) => {
      if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return undefined;
      const { text } = node.moduleSpecifier;
      return text.startsWith(".") && !text.endsWith(".ts") ? text : undefined;
    });
    expect(found).toEqual([]);
  });
});

/** Values that make code depend on when, where or how often it runs. */
const OUTSIDE = new Set([
  "Date",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "process",
  "fetch",
  "crypto",
  "performance",
  "console",
  "require",
  "globalThis",
  "navigator",
  "Buffer",
  "WebSocket",
]);

function outsideName(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node) && OUTSIDE.has(node.text) && isFreeName(node)) return node.text;
  const isRandom =
    ts.isPropertyAccessExpression(node) && node.name.text === "random" && node.expression.getText() === "Math";
  return isRandom ? "Math.random" : undefined;
}

/** Writing an instant that was given is no clock. */
function isGivenInstant(node: ts.Node): boolean {
  return ts.isNewExpression(node.parent) && node.parent.arguments?.length === 1;
}

describe("the pure core", () => {
  it("knows no clock, timer, chance, network, process or console", () => {
    expect(find(below("domain"), outsideName)).toEqual([]);
  });

  it("waits for nothing: no async, no await, no promise", () => {
    const found = find(below("domain"), (node) => {
      if (node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node)) return "async";
      return ts.isIdentifier(node) && node.text === "Promise" ? "Promise" : undefined;
    });
    expect(found).toEqual([]);
  });

  it("takes time and chance through ports in engine and lane too", () => {
    const found = find(below("engine", "lane", "ports"), (node) => {
      const name = outsideName(node);
      return name === undefined || (name === "Date" && isGivenInstant(node)) ? undefined : name;
    });
    expect(found).toEqual([]);
  });

  it("holds no code in ports", () => {
    const allowed = new Set([ts.SyntaxKind.InterfaceDeclaration, ts.SyntaxKind.TypeAliasDeclaration]);
    const found = below("ports").flatMap((file) =>
      file.statements
        .filter((statement) => !allowed.has(statement.kind) && !ts.isImportDeclaration(statement))
        .map((statement) => findingAt(statement, ts.SyntaxKind[statement.kind])),
    );
    expect(found).toEqual([]);
  });
});

describe("money", () => {
  it("reads no amount as a floating point number", () => {
    const found = find(SOURCES, (node) =>
      ts.isIdentifier(node) && node.text === "parseFloat" ? node.text : undefined,
    );
    expect(found).toEqual([]);
    const decimals = find(below("domain"), (node) =>
      ts.isNumericLiteral(node) && /[.e]/i.test(node.getText()) && !node.getText().startsWith("0x")
        ? node.getText()
        : undefined,
    );
    expect(decimals).toEqual([]);
  });
});

describe("errors", () => {
  it("swallows none without a word", () => {
    const found = find(SOURCES, (node) =>
      ts.isCatchClause(node) && node.block.statements.length === 0 && !/\/[/*]/.test(node.block.getFullText())
        ? "empty catch"
        : undefined,
    );
    expect(found).toEqual([]);
  });
});

/** Files outside configuration and composition that may look at the environment, each for one thing. */
const READS_ENVIRONMENT = new Map([
  ["src/sandbox/anvil-binary.ts", "SWAPD_ANVIL and PATH, to find the local chain"],
  ["src/sandbox/anvil-process.ts", "what the local chain's process is given"],
]);

/** Who speaks JSON-RPC. Another one would have its own endpoints and its own judgement of what nodes say. */
const SPEAKS_JSON_RPC = new Map([
  ["src/chain/json-rpc.ts", "the client of daemon and service"],
  ["src/audit/node-client.ts", "the audit shares nothing with what it checks"],
  [
    "src/adapters/remote-signer/signer-calls.ts",
    "a signer is no node: it is asked once, and nothing of it is kept or shared",
  ],
  ["src/sandbox/rpc.ts", "the sandbox works its own node, by methods that no other node has"],
  ["src/sandbox/fork.ts", "the sandbox asks for one chain's id before it has a node"],
]);

describe("surroundings", () => {
  it("has one JSON-RPC client, and others only where that has a reason", () => {
    const found = find(SOURCES, (node) => {
      const isName = ts.isIdentifier(node) || ts.isStringLiteral(node);
      return isName && node.text === "jsonrpc" ? node.text : undefined;
    }).map(({ place }) => place.slice(0, place.lastIndexOf(":")));
    expect([...new Set(found)].sort()).toEqual([...SPEAKS_JSON_RPC.keys()].sort());
  });

  it("writes numbers for nodes in one way", () => {
    const own = new Set(["src/chain/quantity.ts", "src/audit/read-answer.ts", "src/sandbox/transactions.ts"]);
    const found = SOURCES.filter(({ text }) => /`0x\$\{[^`]*\.toString\(16\)\}`/.test(text)).map(
      ({ fileName }) => fileName,
    );
    expect(found.filter((path) => !own.has(path))).toEqual([]);
  });

  it("reads the environment in the configuration and in the composition only", () => {
    const found = find(SOURCES, (node) =>
      ts.isPropertyAccessExpression(node) && node.name.text === "env" && node.getText() === "process.env"
        ? "process.env"
        : undefined,
    ).filter(({ place }) => {
      const path = place.slice(0, place.lastIndexOf(":"));
      return !/^src\/(?:config|app)\//.test(path) && !READS_ENVIRONMENT.has(path);
    });
    expect(found).toEqual([]);
  });

  it("lets only the command line end the process", () => {
    const found = find(SOURCES, (node) =>
      ts.isPropertyAccessExpression(node) && node.name.text === "exit" && node.getText() === "process.exit"
        ? "process.exit"
        : undefined,
    ).filter(({ place }) => !/^src\/(?:app\/|main\.ts)/.test(place));
    expect(found).toEqual([]);
  });
});

describe("words", () => {
  it("writes a doc comment on every export of the domain, the ports and the engine", () => {
    const found = below("domain", "ports", "engine").flatMap((file) =>
      file.statements
        .filter((statement) => ts.canHaveModifiers(statement))
        .filter((statement) => ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
        .filter((statement) => ts.getJSDocCommentsAndTags(statement).length === 0)
        // a type that is read off a documented list has nothing to add
        .filter((statement) => !ts.isTypeAliasDeclaration(statement) || !/\(typeof \w+\)\[/.test(statement.getText()))
        .map((statement) => findingAt(statement, statement.getText().split("\n", 1)[0] ?? "")),
    );
    expect(found).toEqual([]);
  });

  it("names nothing after a drawer", () => {
    const drawers = /(?:^|[-_]|(?<=[a-z]))(?:utils?|helpers?|manager|misc|impl)(?=$|[-_.A-Z])/i;
    const vague = /(?:^|-)(?:stuff|things|data|infos?)\.ts$/;
    const files = typescriptBelow("src").filter((path) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      return path.split("/").some((part) => drawers.test(part)) || (vague.test(name) && name !== "typed-data.ts");
    });
    expect(files).toEqual([]);
    const declared = find(SOURCES, (node) => {
      const named = ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node);
      const typed = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
      if (!(named || typed) || node.name === undefined || !ts.isIdentifier(node.name)) return undefined;
      return drawers.test(node.name.text) ? node.name.text : undefined;
    });
    expect(declared).toEqual([]);
  });

  it("names files in kebab-case and has no index files", () => {
    const wrong = typescriptBelow("src").filter((path) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      return !/^[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(name) || name === "index.ts";
    });
    expect(wrong).toEqual([]);
  });
});
