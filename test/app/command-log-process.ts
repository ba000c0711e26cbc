/** A process of its own that logs as a command does, beside its answer. */
import { createCommandRuntime } from "../../src/app/runtime.ts";

const { logger, redactor } = createCommandRuntime({});
redactor.add("the-secret");
logger.warn({}, "not worth a line");
logger.error({ url: "http://node.example/the-secret" }, "a node broke");
process.stdout.write(`${JSON.stringify({ ok: true })}\n`);
