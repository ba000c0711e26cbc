// The two questions that forge asks a compiler: its version, and standard JSON in and out.
const { readFileSync } = require("node:fs");
const solc = require("solc");

if (process.argv.includes("--version")) {
  // Forge takes only versions that end as those of a native build.
  const version = solc.version().replace("Emscripten.clang", "Linux.g++");
  process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${version}\n`);
} else if (process.argv.includes("--standard-json")) {
  process.stdout.write(solc.compile(readFileSync(0, "utf8")));
} else {
  process.stderr.write("usage: solc --version | solc --standard-json < input.json\n");
  process.exitCode = 1;
}
