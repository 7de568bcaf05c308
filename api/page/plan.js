/**
 * A training plan: the ranked choices of degrees beside the usual one, and the placement of the best.
 *
 * @import { Breakdown, GivenPlan, PlanReport, RankedPlan } from "./types"
 */

import { IDLE, KINDS } from "./draw/colours.js";
import { Picture } from "./draw/picture.js";
import { stacks, stacksHeight } from "./draw/stacks.js";
import { formatNumber, formatSeconds, formatShare } from "./numbers.js";
import { html, useMemo } from "./vendor/preact.js";

/** @type {[keyof Breakdown, string, string][]} */
const PARTS = [
  ["compute_s", "compute", KINDS[0]],
  ["tensor_s", "tensor parallel", KINDS[1]],
  ["groups_s", "context, experts, shared weights", KINDS[2]],
  ["messages_s", "messages", KINDS[4]],
  ["gradients_s", "gradients", KINDS[3]],
  ["waiting_s", "waiting", IDLE],
];

/**
 * Show the plans of a report.
 * @param {{report: PlanReport}} props
 */
export function Plans({ report }) {
  const { heuristic } = report;
  // Reports of earlier versions, which are kept as they are, have no plan that was given.
  const given = report.given?.breakdown ? { ...report.given, breakdown: report.given.breakdown, iteration_s: report.given.iteration_s ?? 0, bubble: report.given.bubble ?? 0, why: report.given.verdict } : null;
  const beside = [...(heuristic ? [{ ...heuristic, whose: "usual: " }] : []), ...(given ? [{ ...given, whose: "yours: " }] : [])];
  const plans = [...report.ranked.map((plan) => ({ ...plan, whose: "" })), ...beside];
  const names = plans.map((plan) => `${plan.whose}${nameOf(plan)}`);
  const draw = useMemo(() => stacks({
    names,
    parts: PARTS.map(([key, label, colour]) => ({ label, colour, values: plans.map((plan) => plan.breakdown[key] ?? 0) })),
    bound: report.lower_bound_s,
    axis: "time of an iteration; no plan ends left of the dashed line",
  }), [report]);
  const [best] = report.ranked;
  const computing = (plan) => formatShare(plan.breakdown.compute_s / plan.iteration_s);
  return html`<section class="card" aria-label="Plans"><h2>Where the time of plans goes</h2>
    <${Picture} name="plans" title="Plans" caption=${`The best plan computes for ${computing(best)} of its iteration${heuristic ? `, the usual one for ${computing(heuristic)}` : ""}.`} height=${stacksHeight(names.length)} draw=${draw} />
    <div class="wide" tabindex="0" role="region" aria-label="Plans"><table>
      <thead><tr><th scope="col">plan</th><th scope="col" class="number">iteration</th><th scope="col" class="number">bubble</th><th scope="col" class="number">memory</th><th scope="col" class="number">tokens/s</th><th scope="col">why it is there</th></tr></thead>
      <tbody>${plans.map((plan, k) => html`<tr><th scope="row">${names[k]}</th><td class="number">${formatSeconds(plan.iteration_s)}</td><td class="number">${formatShare(plan.bubble)}</td><td class="number">${formatShare(plan.memory_share)}</td><td class="number">${formatNumber(plan.tokens_per_s && Math.round(plan.tokens_per_s))}</td><td>${plan.why}</td></tr>`)}</tbody>
    </table></div>
    ${report.pruned.length > 0 && html`<h3>Ruled out</h3><ul>${report.pruned.map((ruled) => html`<li>${formatNumber(ruled.choices)} choices: ${ruled.why}</li>`)}</ul>`}
  </section>`;
}

/** @param {RankedPlan | Omit<GivenPlan, "breakdown">} plan */
function nameOf({ pipeline, tensor, data, context = 1, expert = 1, sharding = "none", recompute = "none", recompute_layers = null, schedule, virtual, microbatches, microbatch }) {
  const groups = `${context > 1 ? ` CP ${context}` : ""}${expert > 1 ? ` EP ${expert}` : ""}`;
  const held = `${sharding === "none" ? "" : `, ${sharding}`}${recompute === "none" ? "" : `, ${recompute} recomputation${recompute_layers ? ` of ${recompute_layers} a stage` : ""}`}`;
  return `PP ${pipeline} TP ${tensor} DP ${data}${groups}, ${schedule}${virtual > 1 ? ` x ${virtual}` : ""}, ${microbatches}${microbatch === null ? "" : ` of ${microbatch}`}${held}`;
}
