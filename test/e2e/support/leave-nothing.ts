import { afterAll } from "vitest";
import { endWhatIsLeft } from "./swapd.ts";

// Read before each test file, so that this hook runs after all of its own: vitest runs hooks in reverse.
afterAll(endWhatIsLeft);
