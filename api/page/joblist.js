/**
 * The jobs of this key, the newest first, two of which can be set side by side.
 *
 * @import { JobsBody, JobSummary } from "./types"
 */

import { Fault } from "./form.js";
import { formatNumber, formatSeconds } from "./numbers.js";
import { ask } from "./service.js";
import { html, useEffect, useState } from "./vendor/preact.js";

/** Milliseconds after which a list with unfinished jobs is read again. */
const FRESH_MS = 2000;

/** Show the list. */
export function JobList() {
  const [pages, setPages] = useState(/** @type {JobsBody[] | null} */ (null));
  const [error, setError] = useState(null);
  const [picked, setPicked] = useState(/** @type {string[]} */ ([]));
  const [round, setRound] = useState(0);
  useEffect(() => {
    let gone = false;
    let waiting = 0;
    ask("jobs").then((/** @type {JobsBody} */ page) => {
      if (gone) return;
      setError(null);
      setPages((before) => (before && before.length > 1 ? [page, ...before.slice(1)] : [page]));
      const busy = page.jobs.some((job) => job.status === "running" || job.status === "queued");
      waiting = setTimeout(() => setRound(round + 1), busy ? FRESH_MS : 10 * FRESH_MS);
    }, (fault) => {
      if (gone) return;
      setError(fault);
      waiting = setTimeout(() => setRound(round + 1), 2 * FRESH_MS);
    });
    return () => {
      gone = true;
      clearTimeout(waiting);
    };
  }, [round]);
  const more = () => ask(pages[pages.length - 1].next.slice(1)).then((/** @type {JobsBody} */ page) => setPages([...pages, page]), setError);
  const pick = (id, on) => setPicked(on ? [...picked, id].slice(-2) : picked.filter((other) => other !== id));
  if (error) return html`<h1>Jobs</h1><${Fault} error=${error} />`;
  if (!pages) return html`<h1>Jobs</h1><p class="loading">Loading ..</p>`;
  const jobs = pages.flatMap((page) => page.jobs);
  return html`<h1>Jobs</h1>
    <p class="actions"><a class=${`button${picked.length === 2 ? "" : " off"}`} href=${picked.length === 2 ? `#/compare/${picked.join("/")}` : undefined} aria-disabled=${picked.length !== 2}>Compare two</a>
      <span class="hint">${picked.length === 2 ? "" : `Pick ${2 - picked.length} more.`}</span></p>
    ${jobs.length === 0 ? html`<div class="empty">No jobs yet. <a href="#/">Run one.</a></div>` : html`<div class="wide" tabindex="0" role="region" aria-label="Jobs"><table>
      <thead><tr><th scope="col"><span class="unseen">pick</span></th><th scope="col">job</th><th scope="col">kind</th><th scope="col">state</th><th scope="col">begun</th><th scope="col" class="number">took</th></tr></thead>
      <tbody>${jobs.map((job) => html`<${Row} key=${job.id} job=${job} picked=${picked.includes(job.id)} onPick=${pick} />`)}</tbody></table></div>`}
    ${pages[pages.length - 1].next && html`<p class="actions"><button class="plain" onClick=${more}>Show older ones</button></p>`}`;
}

/** @param {{job: JobSummary, picked: boolean, onPick: (id: string, on: boolean) => void}} props */
function Row({ job, picked, onPick }) {
  const took = job.started_s && job.ended_s ? formatSeconds(job.ended_s - job.started_s) : "–";
  return html`<tr><td><input type="checkbox" checked=${picked} aria-label=${`Pick job ${job.id.slice(0, 8)}`} onChange=${(event) => onPick(job.id, event.target.checked)} /></td>
    <th scope="row"><a href=${`#/jobs/${job.id}`}>${job.id.slice(0, 8)}</a></th><td>${job.kind}</td><td><span class=${`status ${job.status}`}>${job.status}</span> ${job.progress?.cost > 0 && html`<span class="hint">best ${formatNumber(job.progress.cost, 6)}</span>`}</td>
    <td>${formatTime(job.created_s)}</td><td class="number">${took}</td></tr>`;
}

/** Return a moment as the same text in every locale. */
function formatTime(seconds) {
  const at = new Date(1000 * seconds);
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
