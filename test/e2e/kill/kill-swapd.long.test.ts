import { it } from "vitest";
import { expectToSurvive, SHORT_FORM_TIMEOUT_MS } from "./short-form.ts";

it("neither loses nor repeats a swap when daemons and our own service are killed again and again", {
  timeout: SHORT_FORM_TIMEOUT_MS,
}, async () => {
  await expectToSurvive("swapd", { groups: ["gasless", "replacement", "cancellation"], serviceKills: 6 });
});
