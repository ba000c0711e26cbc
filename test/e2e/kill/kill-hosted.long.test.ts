import { it } from "vitest";
import { expectToSurvive, SHORT_FORM_TIMEOUT_MS } from "./short-form.ts";

it("neither loses nor repeats a swap when daemons are killed and the hosted service loses answers and comes late", {
  timeout: SHORT_FORM_TIMEOUT_MS,
}, async () => {
  await expectToSurvive("fly", { groups: ["decision", "lane", "fill"], serviceKills: 0 });
});
