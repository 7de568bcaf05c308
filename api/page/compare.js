/**
 * Two jobs side by side: their figures, and the pictures of each.
 *
 * @import { JobBody } from "./types"
 * @import { View } from "./job.js"
 * @typedef {{job: JobBody, view: View | false | null}} Found `view` is missing where a job has none.
 */

import { Device } from "./circuit.js";
import { Fault } from "./form.js";
import { askView } from "./job.js";
import { Hops, TaskGraph } from "./mapping.js";
import { figuresOf } from "./reports.js";
import { ask } from "./service.js";
import { html, useEffect, useState } from "./vendor/preact.js";

/** Show two jobs by their ids. */
export function Compare({ ids }) {
  const [found, setFound] = useState(/** @type {Found[] | null} */ (null));
  const [error, setError] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    /** @returns {Promise<Found>} */
    const one = async (id) => {
      const job = await ask(`jobs/${encodeURIComponent(id)}`, { signal: stop.signal });
      return { job, view: job.report?.feasible && (await askView(id, stop.signal)) };
    };
    Promise.all(ids.map(one)).then(setFound, (fault) => !stop.signal.aborted && setError(fault));
    return () => stop.abort();
  }, [ids.join()]);
  if (error) return html`<h1>Two jobs</h1><${Fault} error=${error} />`;
  if (!found) return html`<h1>Two jobs</h1><p class="loading">Loading ..</p>`;
  const figures = found.map(({ job }) => new Map(job.report ? figuresOf(job.report) : []));
  const names = [...new Set(figures.flatMap((each) => [...each.keys()]))];
  return html`<h1>Two jobs</h1>
    <div class="wide" tabindex="0" role="region" aria-label="Figures"><table>
      <thead><tr><th scope="col">figure</th>${found.map(({ job }) => html`<th scope="col" class="number"><a href=${`#/jobs/${job.id}`}>${job.id.slice(0, 8)}</a> <span class=${`status ${job.status}`}>${job.status}</span></th>`)}</tr></thead>
      <tbody>${names.map((name) => html`<tr class=${figures[0].get(name) === figures[1].get(name) ? "" : "differs"}><th scope="row">${name}</th>${figures.map((each) => html`<td class="number">${each.get(name) ?? "–"}</td>`)}</tr>`)}</tbody>
    </table></div>
    <div class="pair">${found.map(({ job, view }) => html`<section aria-label=${`Job ${job.id.slice(0, 8)}`}><h2>${job.id.slice(0, 8)}</h2>${view ? html`<${Side} view=${view} />` : html`<p>This job has no picture.</p>`}</section>`)}</div>`;
}

/** @param {{view: View}} props */
function Side({ view }) {
  if (view.kind === "mapping") {
    const at = view.orders.length - 1;
    return html`<${TaskGraph} view=${view} tasks=${view.tasks} order=${view.orders[at]} at=${at} chosen=${null} /><${Hops} view=${view} />`;
  }
  if (view.kind === "circuit") return html`<${Device} view=${view} />`;
  return null;
}
