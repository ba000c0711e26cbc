import { readFileSync, writeFileSync } from "node:fs";
import { withRooms } from "./rooms-diagram.ts";

const PAGE = new URL("../docs/ARCHITECTURE.md", import.meta.url);

writeFileSync(PAGE, withRooms(readFileSync(PAGE, "utf8")));
