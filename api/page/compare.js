/**
 * Jobs of one kind side by side: what differs among their requests, their figures, and a picture of each.
 *
 * @import { ComparedJobBody, ComparisonBody, FigureBody } from "./types"
 * @import { View } from "./job.js"
 */

import { Device } from "./circuit.js";
import { download } from "./files.js";
import { Fault } from "./form.js";
import { askView } from "./job.js";
import { Hops, TaskGraph } from "./mapping.js";
import { Iteration, Load } from "./network.js";
import { countOf, formatBytes, formatNumber, formatSeconds, formatShare } from "./numbers.js";
import { ask, isPassing, ProblemError, send } from "./service.js";
import { html, useEffect, useState } from "./vendor/preact.js";

/** Seconds that the service waits for jobs that go on before it says how far they are. */
const WAIT_S = 5;
/** Milliseconds between two questions: a service or a proxy may wait for less, and one that is away comes back. */
const PAUSE_MS = 1000;
/** Figures that are parts of a whole. */
const SHARES = ["gap", "bubble", "memory_share", "crossing", "success_probability"];
const FORMATS = { s: formatSeconds, bytes: formatBytes };

/** Show a comparison by its id. */
export function Compare({ id }) {
  const [table, setTable] = useState(/** @type {ComparisonBody | null} */ (null));
  const [error, setError] = useState(null);
  const [lost, setLost] = useState(null);
  const path = `comparisons/${encodeURIComponent(id)}`;
  useEffect(() => {
    const stop = new AbortController();
    const follow = async () => {
      for (let wait = 0; ; wait = WAIT_S) {
        try {
          /** @type {ComparisonBody} */
          const found = await ask(`${path}?wait=${wait}`, { signal: stop.signal });
          setTable(found);
          setLost(null);
          if (found.ended) return;
        } catch (fault) {
          if (stop.signal.aborted || !isPassing(fault)) throw fault;
          setLost(fault);
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    };
    follow().catch((fault) => !stop.signal.aborted && setError(fault));
    return () => stop.abort();
  }, [id]);
  const forget = () => send(path, { method: "DELETE" }).then(() => (location.hash = "#/jobs"), setError);
  const save = () => send(`${path}/table.csv`).then(async (answer) => download(`tiger-${id.slice(0, 8)}.csv`, "text/csv", await answer.blob()), setError);
  const again = lost && html`<p class="fault" role="status">${lost.message} It is asked again.</p>`;
  if (!table) return html`<h1>Comparison</h1>${error ? html`<${Fault} error=${error} />` : html`${again}<p class="loading">Loading ..</p>`}`;
  return html`<h1>${countOf(table.rows.length, "job")} side by side</h1>
    ${!error && again}
    ${error && html`<${Fault} error=${error} />`}
    ${table.same_problem === false && html`<p class="fault">These jobs solve different problems: a better figure may be of an easier one.</p>`}
    ${table.same_problem === null && html`<p class="hint">Whether these jobs solve the same problem is not known, as the request of one is not kept.</p>`}
    <${Table} table=${table} />
    <p class="actions"><button class="plain" onClick=${save}>table.csv</button> <button class="plain" onClick=${forget}>Forget this comparison</button> <span class="hint">Its jobs stay.</span></p>
    <div class="pair">${table.rows.filter(({ feasible }) => feasible).map((row) => html`<${Side} key=${row.job} row=${row} />`)}</div>`;
}

/** @param {{table: ComparisonBody}} props */
function Table({ table }) {
  const { differs, rows } = table;
  // Of jobs without work, what computing costs is nowhere more than 0.
  const columns = table.columns.filter(({ name }) => rows.some((row) => row.figures[name]));
  return html`<div class="wide" tabindex="0" role="region" aria-label="Figures"><table class="compared">
    <thead><tr><th scope="col">job</th><th scope="col">state</th>${differs.map((name) => html`<th scope="col">${name}</th>`)}${columns.map(({ name }) => html`<th scope="col" class="number">${nameOf(name)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row">${row.status === "gone" ? row.label : html`<a href=${`#/jobs/${row.job}`}>${row.label}</a>`}</th>
      <td><span class=${`status ${row.status}`}>${row.feasible === false ? "not feasible" : row.status}</span>${row.problem && html`<small class="fault">${new ProblemError(row.problem.status, row.problem).message}</small>`}</td>
      ${differs.map((name) => html`<td class="told-of">${textOf(row.request[name])}</td>`)}
      ${columns.map((column) => html`<${Cell} row=${row} column=${column} all=${rows} />`)}</tr>`)}</tbody>
  </table></div>`;
}

/**
 * Show a figure, whether no other is better, and what part it is of the first one.
 * @param {{row: ComparedJobBody, column: FigureBody, all: ComparedJobBody[]}} props
 */
function Cell({ row, column: { name, unit }, all }) {
  const value = row.figures[name];
  const ratio = row.ratios[name];
  // Where all are alike, none stands out.
  const best = row.best.includes(name) && all.some((other) => other.figures[name] !== null && !other.best.includes(name));
  const format = SHARES.includes(name) ? formatShare : FORMATS[unit] ?? ((/** @type {number | null} */ number) => formatNumber(number, 6));
  return html`<td class=${`number${best ? " best" : ""}`}>${format(value)}${best && html`<span class="unseen"> (best)</span>`}
    ${row !== all[0] && ratio !== null && ratio !== undefined && formatNumber(ratio, 3) !== "1" && html`<small>× ${formatNumber(ratio, 3)}</small>`}</td>`;
}

/**
 * Draw what a job has found.
 * @param {{row: ComparedJobBody}} props
 */
function Side({ row }) {
  const [view, setView] = useState(/** @type {View | false | null} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    askView(row.job, stop.signal).then(setView, () => !stop.signal.aborted && setView(false));
    return () => stop.abort();
  }, [row.job]);
  return html`<section aria-label=${row.label}><h2>${row.label}</h2>
    ${view ? drawingOf(view) : html`<p class="hint">${view === null ? "Drawing .." : "It has no picture."}</p>`}</section>`;
}

/** @param {View} view */
function drawingOf(view) {
  if (view.kind === "mapping") {
    const at = view.orders.length - 1;
    return html`<${TaskGraph} view=${view} tasks=${view.tasks} order=${view.orders[at]} at=${at} chosen=${null} /><${Hops} view=${view} />`;
  }
  if (view.kind === "circuit") return html`<${Device} view=${view} />`;
  return view.timeline ? html`<${Iteration} view=${view} />` : html`<${Load} view=${view} />`;
}

/** Return the name of a figure in words; its unit stands beside its values. */
function nameOf(name) {
  return name.replace(/_(s|bytes)$/, "").replaceAll("_", " ");
}

/** Return a field of a request in short: a name where it is a file, and its size where it is long. */
function textOf(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value;
  if (value.sha256) return `${value.file ?? value.sha256.slice(0, 8)} (${formatBytes(value.bytes)})`;
  return JSON.stringify(value);
}
