/**
 * What the service makes of a source or of hardware, before anything is solved.
 *
 * @import { Answers, GraphView } from "./types"
 * @typedef {Answers["POST /views"]} View
 * @typedef {View & {graph: GraphView & {slots?: number[]} | null}} Drawn
 */

import { IDLE, KINDS } from "./draw/colours.js";
import { Graph } from "./draw/graph.js";
import { arrange } from "./draw/layers.js";
import { formatBytes, formatNumber, formatSeconds, largest } from "./numbers.js";
import { ask } from "./service.js";
import { html, useEffect, useMemo, useState } from "./vendor/preact.js";

/**
 * Show the picture of one part of a request, or what is wrong with it.
 * @param {{name: string, request: Record<string, unknown>}} props
 */
export function Preview({ name, request }) {
  const [view, setView] = useState(/** @type {Drawn | null} */ (null));
  const [fault, setFault] = useState(null);
  const key = JSON.stringify(request);
  useEffect(() => {
    const stop = new AbortController();
    ask("views", { method: "POST", body: request, signal: stop.signal }).then(
      async (/** @type {View} */ found) => {
        const graph = graphOf(found);
        const arranged = graph && (await arrange(graph));
        if (stop.signal.aborted) return;
        setFault(null);
        setView({ ...found, graph: arranged });
      },
      (error) => !stop.signal.aborted && (setView(null), setFault(error.message)),
    );
    return () => stop.abort();
  }, [key]);
  if (fault) return html`<p class="fault" role="alert">${fault}</p>`;
  if (!view) return html`<div class="empty">Reading ..</div>`;
  return html`<${Shown} name=${name} view=${view} />`;
}

/** @param {{name: string, view: Drawn}} props */
function Shown({ name, view }) {
  const look = useMemo(() => view.graph && lookOf(view), [view]);
  const caption = captionOf(view);
  if (!view.graph) return html`<p>${caption}</p>`;
  return html`<${Graph} name=${name.replaceAll(" ", "-")} title=${name[0].toUpperCase() + name.slice(1)} caption=${caption} graph=${view.graph} look=${look} />`;
}

/**
 * @param {View} view
 * @returns {GraphView | null}
 */
function graphOf(view) {
  if (view.kind === "circuit") return view.interactions;
  if (view.kind === "model") return view.graph;
  return view;
}

/** @param {Drawn} view */
function lookOf({ kind, graph }) {
  const switches = graph.slots?.map((slots) => slots === 0);
  const most = largest(graph.weight) || 1;
  const traffic = kind !== "topology" && kind !== "cluster";
  return {
    fill: graph.names.map((_, at) => (switches?.[at] ? IDLE : KINDS[0])),
    square: switches,
    edge: traffic ? { share: graph.weight.map((weight) => weight / most), width: graph.weight.map((weight) => 1 + 3 * Math.sqrt(weight / most)) } : undefined,
  };
}

/** @param {Drawn} view */
function captionOf(view) {
  if (view.kind === "circuit") {
    return `${formatNumber(view.qubits)} qubits, ${formatNumber(view.gates)} gates of which ${formatNumber(view.two_qubit_gates)} join two qubits, depth ${formatNumber(view.depth)}. Lines join qubits that meet.`;
  }
  if (view.kind === "model" && !view.graph) {
    const seconds = view.forward_s.reduce((sum, part) => sum + part, 0) + view.backward_s.reduce((sum, part) => sum + part, 0);
    const bytes = view.parameter_bytes.reduce((sum, part) => sum + part, 0);
    return `${formatNumber(view.layers.length)} layers with ${formatBytes(bytes)} of parameters; a microbatch takes ${formatSeconds(seconds)} on a device of speed 1.`;
  }
  const graph = view.graph;
  const what = { tasks: "tasks", topology: "nodes", cluster: "devices", model: "operators" }[view.kind];
  const lines = { tasks: "pairs that talk", topology: "links", cluster: "links", model: "edges" }[view.kind];
  const grouped = graph.names.length < graph.total ? ` Shown in ${graph.names.length} groups.` : "";
  const switches = graph.slots?.filter((slots) => slots === 0).length;
  return `${formatNumber(graph.total)} ${what}${switches && !grouped ? `, ${formatNumber(switches)} of them switches (squares)` : ""}, ${formatNumber(graph.total_edges)} ${lines}.${grouped}`;
}
