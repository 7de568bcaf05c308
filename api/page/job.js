/**
 * One job: how far it is, what it found, pictures of it, and files to take home.
 *
 * @import { Answers, GivenLayout, GivenPlan, JobBody, Remedy } from "./types"
 * @import { AnyReport, Point } from "./reports.js"
 * @import { Form, Use } from "./schema.js"
 * @typedef {Answers["GET /jobs/{job_id}/view"]} View
 */

import { CircuitPictures } from "./circuit.js";
import { Commands } from "./commands.js";
import { Curve } from "./draw/curve.js";
import { Fault, keptRequest } from "./form.js";
import { Files } from "./takehome.js";
import { MappingPictures } from "./mapping.js";
import { Penalties } from "./penalties.js";
import { NetworkPictures } from "./network.js";
import { Plans } from "./plan.js";
import { formatBytes, formatNumber, formatSeconds, formatShare } from "./numbers.js";
import { ask, followJob, hasEnded, ProblemError, send } from "./service.js";
import { boundOf, describeReport, figuresOf, formatCost, stagesOf } from "./reports.js";
import { Stages } from "./stages.js";
import { html, useEffect, useRef, useState } from "./vendor/preact.js";

const PICTURES = { mapping: MappingPictures, circuit: CircuitPictures, placement: NetworkPictures };

/** Show a job by its id. */
export function JobPage({ id }) {
  const [job, setJob] = useState(/** @type {JobBody | null} */ (null));
  const [view, setView] = useState(/** @type {View | false | null} */ (null));
  const [error, setError] = useState(null);
  const [lost, setLost] = useState(null);
  const heard = useRef([]);
  useEffect(() => {
    const stop = new AbortController();
    const show = (state) => {
      remember(heard.current, state);
      setLost(null);
      setJob(state);
    };
    const read = async () => {
      const last = await follow(id, { show, lost: setLost }, stop.signal);
      setJob(last);
      if (last.report?.feasible) setView(await askView(id, stop.signal));
    };
    read().catch((fault) => !stop.signal.aborted && setError(fault));
    return () => stop.abort();
  }, [id]);
  if (error && !job?.report) return html`<h1>Job</h1><${Fault} error=${error} />`;
  if (!job) return html`<p class="loading">Loading ..</p>`;
  const kept = keptRequest(id);
  const form = kept && formOf(kept);
  return html`<h1>${titleOf(job, kept)} <span class=${`status ${job.status}`}>${job.status}</span></h1>
    ${!hasEnded(job) && html`<${Running} job=${job} heard=${heard.current} />`}
    ${lost && !hasEnded(job) && html`<p class="fault" role="status">${lost instanceof ProblemError ? lost.message : "The connection broke off."} It is asked again.</p>`}
    ${job.problem && html`<${Fault} error=${new ProblemError(job.problem.status, job.problem)} />`}
    ${job.report && html`<${Result} job=${job} heard=${heard.current} />`}
    ${error && html`<${Fault} error=${error} />`}
    ${job.report?.schema === "tiger.plan/1" && job.report.feasible && html`<${Plans} report=${job.report} />`}
    ${view && html`<${Pictures} view=${view} report=${"placement" in job.report ? job.report.placement : job.report} />`}
    ${job.report && !view && job.report.feasible && html`<div class="empty tall">${view === false || error ? "" : "Drawing .."}</div>`}
    ${job.report && html`<${Penalties} report=${job.report} /><${Stages} report=${job.report} />`}
    ${job.report?.feasible && html`<${Files} id=${id} report=${job.report} />`}
    ${form && html`<${Commands} use=${kept.use} form=${form} request=${kept.request} />`}`;
}

/**
 * Show the pictures of a view.
 * @param {{view: View, report: AnyReport}} props
 */
export function Pictures({ view, report }) {
  const Kind = PICTURES[view.kind];
  return Kind ? html`<${Kind} view=${view} report=${report} />` : null;
}

/**
 * Return the view of a job, false where it has none.
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<View | false>}
 */
export async function askView(id, signal) {
  try {
    return await ask(`jobs/${id}/view`, { signal });
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return false;
    throw error;
  }
}

async function follow(id, listener, signal) {
  const job = await ask(`jobs/${encodeURIComponent(id)}`, { signal });
  listener.show(job);
  return hasEnded(job) ? job : followJob(id, listener, signal);
}

function remember(heard, { status, started_s, progress }) {
  if (status !== "running" || progress?.cost === undefined || progress.cost === null) return;
  const seconds = Math.max(Date.now() / 1000 - started_s, 0);
  const last = heard[heard.length - 1];
  if (last && last.cost === progress.cost && last.bound === progress.bound) return;
  heard.push({ seconds, cost: progress.cost, bound: progress.bound ?? null });
}

/** @param {{job: JobBody, heard: Point[]}} props */
function Running({ job, heard }) {
  const [stopping, setStopping] = useState(false);
  const { progress } = job;
  const cancel = async () => {
    setStopping(true);
    await send(`jobs/${job.id}`, { method: "DELETE" }).catch(() => setStopping(false));
  };
  const gap = progress?.cost && progress.bound > 0 ? ` at most ${formatShare((progress.cost - progress.bound) / progress.cost)} above the optimum` : "";
  return html`<section class="card running" aria-label="Progress">
    <p aria-live="polite"><strong>${job.status === "queued" ? "Waiting for a worker" : `Stage: ${progress?.stage ?? "starting"}`}</strong>
      ${job.status === "running" && !progress?.stage && html`<span class="hint"> The first run after an installation compiles the search, for up to half a minute.</span>`}</p>
    <progress value=${progress?.fraction ?? undefined} max="1" aria-label="Progress of the stage"></progress>
    <p class="figures"><span>Best so far <b>${formatNumber(progress?.cost, 6)}</b></span><span>Bound <b>${formatNumber(progress?.bound, 6)}</b></span><span>${gap}</span></p>
    ${heard.length > 1 && html`<${Convergence} points=${heard} simple=${null} />`}
    <p class="actions"><button class="plain" onClick=${cancel} disabled=${stopping}>${stopping ? "Stopping .." : "Cancel, and keep the best so far"}</button></p>
  </section>`;
}

/** @param {{job: JobBody, heard: Point[]}} props */
function Result({ job, heard }) {
  const { report } = job;
  const points = heard.length > 2 ? heard : stagesOf(report);
  const remedies = ("remedies" in report && report.remedies) || [];
  const given = "given" in report && report.given;
  return html`<section class="card" aria-label="Result">
    <p class="headline">${describeReport(report)}</p>
    <dl class="figures">${figuresOf(report).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${given && html`<${Given} given=${given} />`}
    ${report.violations.length > 0 && html`<ul class="violations">${report.violations.map((violation) => html`<li>${violation.message}</li>`)}</ul>`}
    <${Remedies} remedies=${remedies} />
    ${report.warnings.length > 0 && html`<ul class="warnings">${report.warnings.map((text) => html`<li>${text}</li>`)}</ul>`}
    ${points.length > 1 && html`<${Convergence} points=${points} simple=${simpleOf(report)} bound=${boundOf(report)} format=${formatCost(report)} />`}
  </section>`;
}

/**
 * Show whether to keep the plan that somebody has, and why it does not fit where it does not.
 * @param {{given: GivenLayout | GivenPlan}} props
 */
function Given({ given }) {
  return html`<p>The plan given takes ${formatSeconds(given.iteration_s ?? ("bottleneck_s" in given ? given.bottleneck_s : null))}: ${given.verdict}.</p>
    ${given.violations.length > 0 && html`<ul class="violations">${given.violations.map((violation) => html`<li>It ${violation.message}</li>`)}</ul>`}
    ${"remedies" in given && html`<${Remedies} remedies=${given.remedies} />`}`;
}

/** @param {{remedies: Remedy[]}} props */
function Remedies({ remedies }) {
  return remedies.length > 0 && html`<p>Each alone, with as many layers in every stage:</p><ul>${remedies.map((remedy) => html`<li>${remedy.option} ${remedy.value} saves ${formatBytes(remedy.saved_bytes)} a device${remedy.fits ? " and fits" : ""}</li>`)}</ul>`;
}

function Convergence({ points, simple, bound, format = formatCost(null) }) {
  const staged = points.some((point) => point.bound !== null);
  const seconds = points.map((point) => point.seconds), cost = points.map((point) => point.cost);
  const first = cost.find((value) => value !== null), last = cost.findLast((value) => value !== null);
  const change = last === first ? "The first cost stayed the best: " : `The best cost went from ${format(first)} to `;
  const caption = `${change}${format(last)}, within ${formatSeconds(seconds[seconds.length - 1])}.`;
  return html`<${Curve} name="convergence" title="Convergence" caption=${caption} seconds=${seconds} cost=${cost}
    bound=${points.map((point, k) => point.bound ?? (k === points.length - 1 || !staged ? bound ?? null : null))} simple=${simple} format=${format} />`;
}

/**
 * Return what a report is to beat: the best simple order, or Qiskit.
 * @param {AnyReport} report
 */
function simpleOf(report) {
  if (report.schema === "tiger.circuit/1") return report.baseline_extra_cx === null ? null : { name: "Qiskit", cost: report.baseline_extra_cx };
  if (report.schema !== "tiger.report/1") return null;
  // Reports of older releases, which are kept as they are, have no start and no limit on moves.
  const { start, block, cyclic } = report.baselines;
  if (typeof start === "number" && typeof report.max_moves === "number") return { name: "mapping given", cost: start };
  const known = [start, block, cyclic].filter((cost) => typeof cost === "number");
  const least = Math.min(...known);
  return known.length ? { name: least === start ? "mapping given" : "best simple order", cost: least } : null;
}

/**
 * @param {JobBody} job
 * @param {{use: Use} | null} kept
 */
function titleOf(job, kept) {
  const words = { assign: "Mapping", place: "Placement", plan: "Training plan", experts: "Experts" };
  return kept?.use === "circuit" || job.report?.schema === "tiger.circuit/1" ? "Circuit" : words[job.kind] ?? "Job";
}

/**
 * @param {{use: Use, label?: string, request: Record<string, any>}} kept
 * @returns {Form}
 */
function formOf({ use, label, request }) {
  const [source, hardware] = use === "tasks" ? ["tasks", "topology"] : use === "circuit" ? ["circuit", "topology"] : ["model", "cluster"];
  return { source: { label, value: request[source] }, hardware: hardware in request ? { value: request[hardware] } : null };
}
