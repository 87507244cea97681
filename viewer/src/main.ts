// Reads the data of the page and shows it.

import { App } from "./app";
import { el } from "./element";
import { FORMAT, type Head, fromBase64, inflate } from "./format";
import { startLab } from "./lab";
import { Run } from "./run";

async function begin() {
  const root = document.getElementById("app");
  if (!root) return;
  const app = new App(root);
  Object.assign(window, { stickslip: app });
  const heads = [...document.querySelectorAll("script.run-head")];
  const bodies = [...document.querySelectorAll("script.run-data")];
  const runs: Run[] = [];
  for (let k = 0; k < heads.length; k++) {
    const head = JSON.parse(heads[k].textContent ?? "") as Head;
    if (head.format !== FORMAT) throw new Error(`The data have format ${head.format}, this page reads ${FORMAT}.`);
    runs.push(new Run(head, await inflate(fromBase64((bodies[k].textContent ?? "").trim()))));
    // The text is not needed any more.
    bodies[k].remove();
  }
  if (runs.length) app.setRuns(runs);
  await startLab(app);
}

begin().catch((error: unknown) => {
  document.getElementById("app")?.replaceChildren(el("p", { class: "bad", role: "alert", style: "padding: 20px" }, `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
  throw error;
});
