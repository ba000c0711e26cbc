import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ARTIFACTS_DIRECTORY, artifactText, compileContracts, lentCodeFiles } from "../../contracts/compile.ts";

test("the committed artifacts are what the sources compile to, so nobody deploys other code than he reads", {
  timeout: 600_000,
}, () => {
  const artifacts = compileContracts();
  const files = readdirSync(ARTIFACTS_DIRECTORY).sort();
  expect(files).toEqual(artifacts.map(({ contractName }) => `${contractName}.json`).sort());
  for (const artifact of artifacts) {
    const committed = readFileSync(join(ARTIFACTS_DIRECTORY, `${artifact.contractName}.json`), "utf8");
    expect(committed === artifactText(artifact), `${artifact.contractName}: run npm run contracts`).toBe(true);
  }
  for (const { path, text } of lentCodeFiles(artifacts)) {
    expect(readFileSync(path, "utf8") === text, `${path}: run npm run contracts`).toBe(true);
  }
});
