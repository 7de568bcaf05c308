/**
 * The jobs of this key, the newest first, all or those of some tags; up to ten of one kind can be set side by side.
 *
 * @import { ComparisonsBody, JobsBody, JobSummary } from "./types"
 */

import { Fault } from "./form.js";
import { formatNumber, formatSeconds } from "./numbers.js";
import { ask, send } from "./service.js";
import { html, useEffect, useState } from "./vendor/preact.js";

/** Milliseconds after which a list with unfinished jobs is read again. */
const FRESH_MS = 2000;
/** Jobs of a comparison, at least and at most, comparisons that are listed, and labels of each that are shown. */
const FEWEST = 2, MOST = 10, LISTED = 20, SHOWN = 3;

/**
 * Show the list of the jobs that have all of some tags.
 * @param {{tags: string[]}} props
 */
export function JobList({ tags }) {
  const [pages, setPages] = useState(/** @type {JobsBody[] | null} */ (null));
  const [error, setError] = useState(null);
  const [picked, setPicked] = useState(/** @type {string[]} */ ([]));
  const [round, setRound] = useState(0);
  useEffect(() => {
    let gone = false;
    let waiting = 0;
    ask(`jobs${queryOf(tags)}`).then((/** @type {JobsBody} */ page) => {
      if (gone) return;
      setError(null);
      setPages((before) => renew(before ?? [], page));
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
  const pick = (id, on) => setPicked(on ? [...picked, id] : picked.filter((other) => other !== id));
  const head = html`<h1>Jobs</h1><${Filter} tags=${tags} />`;
  if (error) return html`${head}<${Fault} error=${error} />`;
  if (!pages) return html`${head}<p class="loading">Loading ..</p>`;
  const jobs = pages.flatMap((page) => page.jobs);
  return html`${head}
    <${CompareButton} picked=${picked} />
    ${jobs.length === 0 ? html`<div class="empty">${tags.length ? "No jobs have these tags." : html`No jobs yet. <a href="#/">Run one.</a>`}</div>` : html`<div class="wide" tabindex="0" role="region" aria-label="Jobs"><table>
      <thead><tr><th scope="col"><span class="unseen">pick</span></th><th scope="col">job</th><th scope="col">kind</th><th scope="col">state</th><th scope="col">tags</th><th scope="col">begun</th><th scope="col" class="number">took</th></tr></thead>
      <tbody>${jobs.map((job) => html`<${Row} key=${job.id} job=${job} tags=${tags} picked=${picked.includes(job.id)} full=${picked.length === MOST} onPick=${pick} />`)}</tbody></table></div>`}
    ${pages[pages.length - 1].next && html`<p class="actions"><button class="plain" onClick=${more}>Show older ones</button></p>`}
    <${Comparisons} />`;
}

/**
 * Show the tags that jobs have to have, each with a way to do without it.
 * @param {{tags: string[]}} props
 */
function Filter({ tags }) {
  return tags.length > 0 && html`<p class="tags">Only jobs with ${tags.map((tag) => html`<a class="tag" href=${`#/jobs${queryOf(tags.filter((other) => other !== tag))}`} aria-label=${`Show jobs without the tag ${tag}, too`}>${tag} ×</a>`)}</p>`;
}

/**
 * Have the service set the jobs that are picked side by side.
 * @param {{picked: string[]}} props
 */
function CompareButton({ picked }) {
  const [error, setError] = useState(null);
  useEffect(() => setError(null), [picked.join()]);
  const compare = async () => {
    try {
      const made = await ask("comparisons", { method: "POST", body: { entries: picked.map((job) => ({ job })) } });
      location.hash = `#/comparisons/${made.id}`;
    } catch (fault) {
      setError(fault);
    }
  };
  const lacking = FEWEST - picked.length;
  return html`<p class="actions"><button onClick=${compare} disabled=${lacking > 0}>${lacking > 0 ? "Compare" : `Compare ${picked.length}`}</button>
      <span class="hint">${lacking > 0 ? `Pick ${lacking} more${picked.length ? "" : `, up to ${MOST}`}.` : picked.length === MOST ? "No more fit in." : ""}</span></p>
    ${error && html`<${Fault} error=${error} />`}`;
}

/** @param {{job: JobSummary, tags: string[], picked: boolean, full: boolean, onPick: (id: string, on: boolean) => void}} props */
function Row({ job, tags, picked, full, onPick }) {
  const took = job.started_s && job.ended_s ? formatSeconds(job.ended_s - job.started_s) : "–";
  return html`<tr><td><input type="checkbox" checked=${picked} disabled=${full && !picked} aria-label=${`Pick job ${job.id.slice(0, 8)}`} onChange=${(event) => onPick(job.id, event.target.checked)} /></td>
    <th scope="row"><a href=${`#/jobs/${job.id}`}>${job.id.slice(0, 8)}</a></th><td>${job.kind}</td><td><span class=${`status ${job.status}`}>${job.status}</span> ${job.progress?.cost > 0 && html`<span class="hint">best ${formatNumber(job.progress.cost, 6)}</span>`}</td>
    <td class="tags">${job.tags.map((tag) => html`<a class="tag" href=${`#/jobs${queryOf([...new Set([...tags, tag])])}`}>${tag}</a>`)}</td>
    <td>${formatTime(job.created_s)}</td><td class="number">${took}</td></tr>`;
}

/** Show the comparisons of this key, if there are some. */
function Comparisons() {
  const [page, setPage] = useState(/** @type {ComparisonsBody | null} */ (null));
  const read = () => ask(`comparisons?limit=${LISTED}`).then(setPage, () => {});
  useEffect(() => void read(), []);
  const forget = (id) => send(`comparisons/${id}`, { method: "DELETE" }).then(read, read);
  return page && page.comparisons.length > 0 && html`<section class="card" aria-label="Comparisons"><h2>Comparisons</h2>
    <ul class="files">${page.comparisons.map(({ id, labels, kind, created_s }) => html`<li><a href=${`#/comparisons/${id}`}>${nameOf(labels)}</a> <span>${kind}, ${formatTime(created_s)} <button class="plain" onClick=${() => forget(id)} aria-label=${`Forget the comparison of ${nameOf(labels)}`}>Forget</button></span></li>`)}</ul></section>`;
}

/**
 * Return pages with the first one as it is now: what it has pushed out stays, as the first of the older ones.
 * @param {JobsBody[]} before
 * @param {JobsBody} page
 * @returns {JobsBody[]}
 */
function renew(before, page) {
  const last = page.jobs[page.jobs.length - 1];
  if (before.length < 2 || !page.next) return [page];
  const isOlder = (/** @type {JobSummary} */ job) => job.created_s < last.created_s || (job.created_s === last.created_s && job.id < last.id);
  const jobs = before.flatMap((each) => each.jobs).filter(isOlder);
  return [page, { jobs, next: before[before.length - 1].next }];
}

/** Return the first labels of a comparison, and how many more there are. */
function nameOf(labels) {
  const more = labels.length - SHOWN;
  return labels.slice(0, SHOWN).join("; ") + (more > 0 ? ` and ${more} more` : "");
}

/** Return the query of a list of the jobs with some tags. */
function queryOf(tags) {
  return tags.length ? `?${new URLSearchParams(tags.map((tag) => ["tag", tag]))}` : "";
}

/** Return a moment as the same text in every locale. */
function formatTime(seconds) {
  const at = new Date(1000 * seconds);
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
