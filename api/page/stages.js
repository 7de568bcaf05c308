/**
 * The stages of a solve as a table, and how the penalties of its QUBOs were tuned.
 *
 * @import { Stage } from "./types"
 * @import { AnyReport } from "./reports.js"
 */

import { formatNumber, formatSeconds } from "./numbers.js";
import { formatCost, recordedStages } from "./reports.js";
import { html } from "./vendor/preact.js";

/** What has a column of its own, or a picture. */
const APART = ["name", "cost", "seconds", "rounds"];
/** Rows that are shown at once; the others are folded away. */
const SHOWN = 12;

/**
 * Show the stages of a report.
 * @param {{report: AnyReport}} props
 */
export function Stages({ report }) {
  const stages = recordedStages(report);
  if (!stages.length) return null;
  const format = formatCost(report);
  const details = stages.map((stage) => Object.entries(stage).filter(([name]) => !APART.includes(name)));
  const row = (stage, k) => html`<tr><th scope="row">${stage.name}</th><td class="number">${format(stage.cost)}</td><td class="number">${formatSeconds(stage.seconds)}</td>
    <td>${details[k].map(([name, value]) => html`<span class="detail">${name.replaceAll("_", " ")} <b>${showDetail(value)}</b></span> `)}</td></tr>`;
  const table = (rows) => html`<div class="wide" tabindex="0" role="region" aria-label="Stages"><table>
    <thead><tr><th scope="col">stage</th><th scope="col" class="number">best cost</th><th scope="col" class="number">time</th><th scope="col">what it says</th></tr></thead>
    <tbody>${rows}</tbody></table></div>`;
  return html`<section class="card" aria-label="Stages"><h2>What each stage reached</h2>
    ${table(stages.slice(0, SHOWN).map(row))}
    ${stages.length > SHOWN && html`<details><summary>${formatNumber(stages.length - SHOWN)} more</summary>${table(stages.slice(SHOWN).map((stage, k) => row(stage, k + SHOWN)))}</details>`}
  </section>`;
}

function showDetail(value) {
  if (typeof value === "number") return formatNumber(value, 4);
  if (value === null) return "–";
  if (typeof value !== "object") return String(value);
  const parts = Array.isArray(value) ? value.map(showDetail) : Object.entries(value).map(([name, part]) => `${name} ${showDetail(part)}`);
  return parts.join(", ");
}
