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
import { countOf, formatBytes, formatNumber, formatSeconds, largest } from "./numbers.js";
import { ask, ProblemError } from "./service.js";
import { html, useEffect, useMemo, useState } from "./vendor/preact.js";

/** Milliseconds for which a part has to stay as it is, so that nothing is asked while it is typed. */
const STILL_MS = 350;
/** Milliseconds after which a busy service is asked again. */
const BUSY_MS = 1500;

let last = Promise.resolve();

/** Show the picture of one part of a request, or what is wrong with it. */
export function Preview({ name, request }) {
  const [view, setView] = useState(/** @type {Drawn | null} */ (null));
  const [fault, setFault] = useState(null);
  const key = JSON.stringify(request);
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      try {
        const found = await readView(request, stop.signal);
        const graph = graphOf(found);
        const arranged = graph && (await arrange(graph));
        if (stop.signal.aborted) return;
        setFault(null);
        setView({ ...found, graph: arranged });
      } catch (error) {
        if (!stop.signal.aborted) (setView(null), setFault(error.message));
      }
    };
    const waiting = setTimeout(read, STILL_MS);
    return () => {
      clearTimeout(waiting);
      stop.abort();
    };
  }, [key]);
  if (fault) return html`<p class="fault" role="alert">${fault}</p>`;
  if (!view) return html`<div class="empty">Reading ..</div>`;
  return html`<${Shown} name=${name} view=${view} />`;
}

/** Return the view of a request, after those that were asked for before it, as a worker reads one at a time. */
function readView(request, signal) {
  const view = last.then(() => readPatiently(request, signal));
  last = view.catch(() => {});
  return view;
}

async function readPatiently(request, signal) {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await ask("views", { method: "POST", body: request, signal });
    } catch (error) {
      // All workers are busy: the service asks for another try.
      if (!(error instanceof ProblemError && error.status === 503)) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    }
  }
}

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
    return `${countOf(view.qubits, "qubit")}, ${countOf(view.gates, "gate")} of which ${formatNumber(view.two_qubit_gates)} join two qubits, depth ${formatNumber(view.depth)}. Lines join qubits that meet.`;
  }
  if (view.kind === "model" && !view.graph) {
    const seconds = view.forward_s.reduce((sum, part) => sum + part, 0) + view.backward_s.reduce((sum, part) => sum + part, 0);
    const bytes = view.parameter_bytes.reduce((sum, part) => sum + part, 0);
    return `${countOf(view.layers.length, "layer")} with ${formatBytes(bytes)} of parameters; a microbatch takes ${formatSeconds(seconds)} on a device of speed 1.`;
  }
  const graph = view.graph;
  const what = { tasks: "tasks", topology: "nodes", cluster: "devices", model: "operators" }[view.kind];
  const lines = { tasks: "pairs that talk", topology: "links", cluster: "links", model: "edges" }[view.kind];
  const grouped = graph.names.length < graph.total ? ` Shown in ${graph.names.length} groups.` : "";
  const switches = graph.slots?.filter((slots) => slots === 0).length;
  return `${formatNumber(graph.total)} ${what}${switches && !grouped ? `, ${formatNumber(switches)} of them switches (squares)` : ""}, ${formatNumber(graph.total_edges)} ${lines}.${grouped}`;
}
