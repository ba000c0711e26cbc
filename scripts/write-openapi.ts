import { writeFileSync } from "node:fs";
import { openApiText } from "../src/app/http/api/openapi.ts";

writeFileSync(new URL("../docs/openapi.json", import.meta.url), openApiText());
