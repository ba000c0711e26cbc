import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ARTIFACTS_DIRECTORY, artifactText, compileContracts } from "./compile.ts";

mkdirSync(ARTIFACTS_DIRECTORY, { recursive: true });
for (const artifact of compileContracts()) {
  const path = join(ARTIFACTS_DIRECTORY, `${artifact.contractName}.json`);
  writeFileSync(path, artifactText(artifact));
  console.log(`${artifact.contractName}: ${(artifact.deployedBytecode.length - 2) / 2} bytes`);
}
