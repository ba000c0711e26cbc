import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ARTIFACTS_DIRECTORY,
  artifactText,
  COMPILED_FROM,
  compileContracts,
  compiledFrom,
  lentCodeFiles,
} from "./compile.ts";

mkdirSync(ARTIFACTS_DIRECTORY, { recursive: true });
const artifacts = compileContracts();
for (const artifact of artifacts) {
  const path = join(ARTIFACTS_DIRECTORY, `${artifact.contractName}.json`);
  writeFileSync(path, artifactText(artifact));
  console.log(`${artifact.contractName}: ${(artifact.deployedBytecode.length - 2) / 2} bytes`);
}
for (const { path, text } of lentCodeFiles(artifacts)) writeFileSync(path, text);
writeFileSync(COMPILED_FROM, `${JSON.stringify(compiledFrom(), null, 2)}\n`);
