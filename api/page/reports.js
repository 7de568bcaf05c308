/**
 * Reports in words and figures: what was found, how good it is, and what each stage reached.
 *
 * @import { CircuitReport, ExpertReport, PlacementReport, PlanReport, Report, SourceShares, Stage } from "./types"
 * @typedef {Report | CircuitReport | PlacementReport | PlanReport | ExpertReport} AnyReport
 * @typedef {[string, string]} Figure A name and a text.
 * @typedef {{seconds: number, cost: number | null, bound?: number | null}} Point
 */

import { countOf, formatBytes, formatNumber, formatSeconds, formatShare, largest } from "./numbers.js";

/**
 * Return a sentence on what a report says.
 * @param {AnyReport} report
 * @returns {string}
 */
export function describeReport(report) {
  if (!report.feasible) return "Nothing meets what is asked:";
  return (DESCRIBED[report.schema] ?? (() => ""))(report);
}

/**
 * Return the figures of a report that matter most, as [name, text].
 * @param {AnyReport} report
 * @returns {Figure[]}
 */
export function figuresOf(report) {
  return report.feasible ? (FIGURES[report.schema] ?? (() => []))(report) : [];
}

/**
 * Return the points of the convergence of a report: seconds since the start and the best cost then.
 * @param {AnyReport} report
 * @returns {Point[]}
 */
export function stagesOf(report) {
  let seconds = 0;
  return recordedStages(report)
    .map((/** @type {Stage & {lower_bound?: number}} */ stage) => ({ seconds: (seconds += stage.seconds), cost: stage.cost, bound: stage.lower_bound ?? null }))
    .filter(({ cost }) => cost !== null);
}

/**
 * Return the function that writes what a report minimized: seconds for networks, but for a sum of shares of bounds.
 * @param {AnyReport | null} report
 * @returns {(value: number | null | undefined) => string}
 */
export function formatCost(report) {
  const seconds = report?.schema === "tiger.plan/1" || (report?.schema === "tiger.experts/1" && report.objective.unit === "s") || (report?.schema === "tiger.placement/1" && report.objective !== "both");
  return seconds ? formatSeconds : (value) => formatNumber(value, 6);
}

/**
 * Return the bound on what a report minimized, null where none is known.
 * @param {AnyReport} report
 */
export function boundOf(report) {
  if (report.schema === "tiger.report/1" || report.schema === "tiger.circuit/1") return report.lower_bound;
  if (report.schema === "tiger.plan/1") return report.lower_bound_s;
  if (report.schema === "tiger.experts/1") return report.objective.bound.total;
  if (report.objective === "both") return null;
  return (report.iteration_s !== null ? report.iteration_bound_s : report.objective === "latency" ? report.latency_bound_s : report.lower_bound_s) ?? null;
}

/**
 * Return the stages of the solve that a report records; `stages` of a placement are those of its pipeline.
 * @param {AnyReport} report
 * @returns {Stage[]}
 */
export function recordedStages(report) {
  return "progress" in report ? report.progress : report.stages;
}

/** @type {Record<AnyReport["schema"], (report: any) => string>} */
const DESCRIBED = {
  "tiger.report/1": describeMapping,
  "tiger.circuit/1": describeCircuit,
  "tiger.placement/1": describePlacement,
  "tiger.plan/1": describePlan,
  "tiger.experts/1": describeExperts,
};
/** @type {Record<AnyReport["schema"], (report: any) => Figure[]>} */
const FIGURES = { "tiger.report/1": mappingFigures, "tiger.circuit/1": circuitFigures, "tiger.placement/1": placementFigures, "tiger.plan/1": planFigures, "tiger.experts/1": expertFigures };

/** @param {Report} report */
function describeMapping({ verdict, cost, optimal, gap, lower_bound }) {
  const proof = optimal ? "It is optimal: no mapping is better." : gap === null ? "" : `No mapping can be more than ${formatShare(gap)} better, as the bound of ${formatNumber(lower_bound, 6)} shows.`;
  if (!verdict) return `The mapping costs ${formatNumber(cost, 6)}. ${proof}`;
  const gain = verdict.before > 0 ? (verdict.before - verdict.after) / verdict.before : 0;
  const what = verdict.metric === "cost" ? "cost" : verdict.metric.replaceAll("-", " ");
  const given = verdict.order === "start", order = given ? "mapping given" : `${verdict.order} order`;
  const change = gain > 0 ? `${formatShare(gain)} less than the ${order}${given ? "" : ", the best simple one"} (${formatNumber(verdict.before, 6)})` : `the same as the ${order}, which you may keep`;
  return `The ${what} is ${formatNumber(verdict.after, 6)}, ${change}. ${proof}`;
}

/**
 * @param {Report} report
 * @returns {Figure[]}
 */
function mappingFigures(report) {
  // The cost of multicasts is what counts; that of pairs only stands for it.
  const nets = report.objective?.name === "multicast" ? report.objective : null;
  /** @type {Figure[]} */
  const figures = [
    nets ? ["Multicast", formatNumber(nets.value, 6)] : ["Cost", formatNumber(report.cost, 6)],
    ["Lower bound", formatNumber(nets ? nets.bound : report.lower_bound, 6)],
    ["Mapping given", formatNumber(nets ? nets.start : report.baselines.start, 6)],
    ["Moved from it", formatNumber(report.moved)],
    ["Block order", formatNumber(nets ? nets.baseline : report.baselines.block, 6)],
    ["Cyclic order", formatNumber(nets ? nets.cyclic : report.baselines.cyclic, 6)],
    ["Random order", formatNumber(nets ? null : report.baselines.random, 6)],
    ...Object.entries(report.metrics).map(/** @returns {Figure} */ ([name, value]) => [capitalize(name.replaceAll("_", " ")), formatNumber(value, 5)]),
    ["Solver", report.solver],
    ["Rule", report.rule],
    ["Time", formatSeconds(report.seconds)],
  ];
  return figures.filter(isKnown);
}

/** @param {CircuitReport} report */
function describeCircuit({ swaps, bridges, extra_cx, baseline_extra_cx, depth, baseline_depth, optimal, lower_bound }) {
  const proof = optimal ? " No routing adds fewer." : lower_bound ? ` At least ${formatNumber(lower_bound)} are needed.` : "";
  const than = baseline_extra_cx === null ? "" : ` Qiskit's own layout and routing add ${formatNumber(baseline_extra_cx)} at the same level and seed${baseline_depth === null ? "" : `, with depth ${formatNumber(baseline_depth)}`}.`;
  return `Routing adds ${formatNumber(extra_cx)} CX gates (${countOf(swaps, "SWAP")}${bridges ? `, ${countOf(bridges, "bridge")}` : ""}); the depth is ${formatNumber(depth)}.${proof}${than}`;
}

/**
 * @param {CircuitReport} report
 * @returns {Figure[]}
 */
function circuitFigures(report) {
  /** @type {Figure[]} */
  const figures = [
    ["Extra CX", formatNumber(report.extra_cx)],
    ["Qiskit's extra CX", formatNumber(report.baseline_extra_cx)],
    ["Lower bound", formatNumber(report.lower_bound)],
    ["SWAPs", formatNumber(report.swaps)],
    ["Bridges", formatNumber(report.bridges)],
    ["Depth", formatNumber(report.depth)],
    ["Qiskit's depth", formatNumber(report.baseline_depth)],
    ["Success", formatShare(report.success_probability)],
    ["Qiskit's success", formatShare(report.baseline_success_probability)],
    ["Time", formatSeconds(report.seconds)],
  ];
  return figures.filter(isKnown);
}

/** @param {PlacementReport} report */
function describePlacement(report) {
  if (report.objective === "cache" && report.serving) {
    const { sequences, most_sequences: most, split } = report.serving;
    const proof = report.optimal ? " No plan has room for more." : ` No plan has room for more than ${formatNumber(most)}.`;
    return `${formatNumber(sequences)} sequences fit at once, ${formatNumber(split.sequences)} with layers in proportion to memory.${proof}`;
  }
  const [what, value, uniform, bound] = report.iteration_s !== null
    ? ["An iteration takes", report.iteration_s, report.uniform_iteration_s, report.iteration_bound_s]
    : report.latency_s !== null ? ["A microbatch takes", report.latency_s, null, report.latency_bound_s] : ["The slowest device needs", report.bottleneck_s, report.uniform_bottleneck_s, report.lower_bound_s];
  const split = report.objective === "latency" && report.serving?.split.feasible ? report.serving.split.latency_s : null;
  const gain = split ? `, ${formatSeconds(split)} with layers in proportion to memory` : uniform ? `, ${formatShare((uniform - value) / uniform)} less than equal shares in the order of the cluster (${formatSeconds(uniform)})` : "";
  const proof = report.optimal ? " It is optimal." : bound ? ` No plan can take less than ${formatSeconds(bound)}.` : "";
  return `${what} ${formatSeconds(value)}${gain}.${proof}`;
}

/**
 * @param {PlacementReport} report
 * @returns {Figure[]}
 */
function placementFigures(report) {
  const bytes = report.stages.map((stage) => stage.memory_bytes);
  /** @type {Figure[]} */
  const figures = [
    ["Bottleneck", formatSeconds(report.bottleneck_s)],
    ["Iteration", formatSeconds(report.iteration_s)],
    ["Bubble", formatShare(report.bubble)],
    ["Lower bound", formatSeconds(report.iteration_bound_s ?? report.latency_bound_s ?? report.lower_bound_s)],
    ["Forward latency", formatSeconds(report.serving?.latency_s ?? null)],
    ["Sequences at once", formatNumber(report.serving?.sequences ?? null)],
    ["By memory", formatSeconds(report.serving?.split.latency_s ?? null)],
    ["Experts on the CPU", report.serving?.experts_on_cpu ? `of ${formatNumber(report.serving.experts_on_cpu.layers.length)} layers` : "–"],
    ["Uniform", formatSeconds(report.uniform_iteration_s ?? report.uniform_bottleneck_s)],
    ["Most memory", formatBytes(largest(bytes))],
    ["Stages", formatNumber(report.stages.length)],
    ["Times of layers", describeSources(report.times)],
    ["Time", formatSeconds(report.seconds)],
  ];
  return figures.filter(isKnown);
}

/**
 * Return where times of layers come from, the largest share first, a dash where nobody knows.
 * @param {SourceShares | null | undefined} times
 */
function describeSources(times) {
  const shares = Object.entries(times ?? {}).filter(([, share]) => share > 0).sort(([, a], [, b]) => b - a);
  return shares.map(([source, share]) => (share < 1 ? `${formatShare(share)} ${source}` : source)).join(", ") || "–";
}

/** @param {PlanReport} report */
function describePlan({ degrees, iteration_s, gain, heuristic, optimal, lower_bound_s }) {
  const usual = heuristic ? `, ${formatNumber(gain, 3)} times as fast as the usual plan (${formatSeconds(heuristic.iteration_s)})` : "";
  const proof = optimal ? " No plan is faster." : ` No plan can take less than ${formatSeconds(lower_bound_s)}.`;
  return `Pipeline ${degrees.pipeline}, tensor ${degrees.tensor}, data ${degrees.data} with ${degrees.schedule}: an iteration takes ${formatSeconds(iteration_s)}${usual}.${proof}`;
}

/**
 * @param {PlanReport} report
 * @returns {Figure[]}
 */
function planFigures(report) {
  /** @type {Figure[]} */
  const figures = [
    ["Iteration", formatSeconds(report.iteration_s)],
    ["Lower bound", formatSeconds(report.lower_bound_s)],
    ["Tokens a second", formatNumber(report.tokens_per_s && Math.round(report.tokens_per_s))],
    ["Batch", formatNumber(report.batch)],
    ["Choices", formatNumber(report.choices)],
    ["Time", formatSeconds(report.seconds)],
  ];
  return figures.filter(isKnown);
}

/** @param {ExpertReport} report */
function describeExperts(report) {
  const { before, after, bound } = report.objective, format = formatCost(report);
  const gain = before.total > after.total ? `, ${formatShare((before.total - after.total) / before.total)} less than the map before (${format(before.total)})` : ", the same as the map before";
  const proof = report.optimal ? " It is optimal." : ` No map takes less than ${format(bound.total)}.`;
  const what = { s: "A step takes", hops: "Hops of a transition:", tokens: "Largest loads of all layers, in tokens:" }[report.objective.unit];
  return `${what} ${format(after.total)}${gain}.${proof}${report.verdict ? ` ${capitalize(report.verdict.advice)}: ${report.verdict.reason}.` : ""}`;
}

/**
 * @param {ExpertReport} report
 * @returns {Figure[]}
 */
function expertFigures(report) {
  const { before, after, bound } = report.objective, format = formatCost(report);
  /** @type {Figure[]} */
  const figures = [
    ["Before", format(before.total)],
    ["After", format(after.total)],
    ["Lower bound", format(bound.total)],
    ["Layers", formatNumber(report.layers)],
    ["Experts of a layer", formatNumber(report.experts)],
    ["Replicas", formatNumber(report.replicas)],
    ["Slots of devices", describeSlots(report)],
    ["Time", formatSeconds(report.seconds)],
  ];
  return figures.filter(isKnown);
}

/** @param {ExpertReport} report */
function describeSlots(report) {
  const counts = report.slots_of_devices?.flat() ?? [];
  return counts.length ? `${formatNumber(Math.min(...counts))} to ${formatNumber(Math.max(...counts))} in a layer` : "–";
}

/** @param {Figure} figure */
function isKnown([, text]) {
  return text !== "–";
}

/**
 * @param {string} text
 * @returns {string}
 */
function capitalize(text) {
  return text[0].toUpperCase() + text.slice(1);
}
