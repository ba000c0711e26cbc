import { render } from "preact";
import { App } from "./app.tsx";
import { watchSession } from "./session.ts";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/pages.css";
import "uplot/dist/uPlot.min.css";
import { applyTheme } from "./theme.ts";

applyTheme();
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
  watchSession();
}
