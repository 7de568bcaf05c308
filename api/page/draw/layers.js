/**
 * Layers for graphs that are directed and have no circle, by ELK's algorithm in a worker.
 *
 * @import { GraphView } from "../types"
 */

/** Vertices and edges that are arranged within a second; larger graphs keep the places that the service gave them. */
const VERTICES = 300, EDGES = 900;

let worker = null;

/**
 * Return a graph with its vertices in layers where it is a small directed one without circles, else as it is.
 * @param {GraphView} graph
 * @returns {Promise<GraphView>}
 */
export async function arrange(graph) {
  const { names, a, b } = graph;
  if (!graph.directed || names.length > VERTICES || a.length > EDGES || !a.length || hasCircle(graph)) return graph;
  const { default: Elk } = await import("../vendor/elk.js");
  worker ??= new Elk({ workerUrl: new URL("../vendor/elk-worker.js", import.meta.url).href });
  const laid = await worker.layout({
    id: "root",
    layoutOptions: { "elk.algorithm": "layered", "elk.direction": "DOWN", "elk.spacing.nodeNode": "26", "elk.layered.spacing.nodeNodeBetweenLayers": "34" },
    children: names.map((_, at) => ({ id: String(at), width: 20, height: 20 })),
    edges: a.map((from, k) => ({ id: `e${k}`, sources: [String(from)], targets: [String(b[k])] })),
  });
  const side = Math.max(laid.width, laid.height);
  const place = (offset, length) => (at) => ((side - length) / 2 + laid.children[at][offset] + 10) / side;
  return { ...graph, x: names.map((_, at) => place("x", laid.width)(at)), y: names.map((_, at) => place("y", laid.height)(at)) };
}

/** @param {GraphView} graph */
function hasCircle({ names, a, b }) {
  const waiting = names.map(() => 0);
  const after = names.map(() => []);
  a.forEach((from, k) => {
    after[from].push(b[k]);
    waiting[b[k]] += 1;
  });
  const ready = names.map((_, at) => at).filter((at) => waiting[at] === 0);
  let seen = 0;
  for (; ready.length; seen++) for (const next of after[ready.pop()]) if (--waiting[next] === 0) ready.push(next);
  return seen < names.length;
}
