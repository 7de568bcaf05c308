/**
 * A graph: tasks, hardware or qubits as dots with links between them, to move, to enlarge and to ask about.
 *
 * @import { GraphView } from "../types"
 * @typedef {{fill: string[], size?: number[], square?: boolean[], labels?: string[],
 *   edge?: {share?: (number | null)[], width: number[]}}} Look
 */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { intensity, paletteOf } from "./colours.js";
import { Keep } from "./picture.js";
import { inTurn } from "./turn.js";

/** Vertices with names beside them, and edges that stay in sight while the graph is moved. */
const NAMED = 72, MOVED_EDGES = 3000;
/** Edges whose directions can be seen. */
const ARROWS = 400;
/** Characters of a name that are written, the sizes of its letters in units, and pixels below which they are left out. */
const WRITTEN = 24, LARGE = 40, SMALL = 16, READABLE = 7;
/** The width of a letter by its height, about, and how near rows are whose names could meet, as a part of the side. */
const LETTER = 0.62, ROW = 0.05;
/** The side of a graph in its own units, and pixels that an arrow key moves it by. */
const SIDE = 1000, STEP = 40;

/**
 * Show a graph.
 * @param {{name: string, title: string, caption: string, graph: GraphView, look: Look,
 *   tell?: (vertex: number) => string, chosen?: number[], onChoose?: (vertex: number | null) => void}} props
 */
export function Graph({ name, title, caption, graph, look, tell, chosen, onChoose }) {
  const place = useRef(null);
  const drawn = useRef(null);
  const [told, setTold] = useState(null);
  const directed = graph.directed && graph.a.length <= ARROWS;
  useEffect(() => {
    let gone = false;
    inTurn(async () => {
      const { default: cytoscape } = await import("../vendor/cytoscape.js");
      if (gone || !place.current) return;
      drawn.current = open(cytoscape, place.current, { graph, style: styleOf(graph, look, { directed, place: place.current }) });
      drawn.current.on("mouseover tap", "node", (event) => setTold(describe(graph, event.target.data("at"), tell)));
      drawn.current.on("tap", (event) => onChoose?.(event.target === drawn.current ? null : event.target.data("at") ?? null));
      drawn.current.on("mouseout", "node", () => setTold(null));
      drawn.current.one("render", () => {
        if (!gone && place.current) place.current.dataset.ready = "yes";
      });
    });
    return () => {
      gone = true;
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [graph]);
  useEffect(() => {
    const again = () => place.current && drawn.current?.style(styleOf(graph, look, { directed, place: place.current }));
    again();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", again);
    document.addEventListener("themechange", again);
    return () => {
      dark.removeEventListener("change", again);
      document.removeEventListener("themechange", again);
    };
  }, [look]);
  useEffect(() => {
    drawn.current?.batch(() => {
      drawn.current.nodes().removeClass("chosen");
      for (const at of chosen ?? []) drawn.current.getElementById(`v${at}`).addClass("chosen");
    });
  }, [chosen, graph]);
  return html`<figure class="picture">
    <figcaption><strong>${title}</strong> <span>${caption}</span></figcaption>
    <div class="graph" ref=${place} tabindex="0" role="img" onKeyDown=${(event) => move(event, drawn.current)}
      aria-label=${`${title}. ${caption} Arrow keys move it, plus and minus enlarge and shrink it, 0 shows all of it.`}></div>
    <${Keep} name=${name} title=${`${title}. ${caption}`} height=${560} told=${told}
      draw=${(context, frame) => drawGraph(context, frame, graph, look)} />
  </figure>`;
}

/** Draw a graph into a frame of a canvas or of SVG. */
export function drawGraph(context, { width, height, colours }, graph, look) {
  const scale = Math.min(width, height) - 48;
  const left = (width - scale) / 2, top = 24;
  const x = (at) => left + scale * graph.x[at], y = (at) => top + scale * graph.y[at];
  graph.a.forEach((a, k) => {
    context.strokeStyle = edgeColour(look, k, colours);
    context.lineWidth = look.edge?.width[k] ?? 1;
    context.beginPath();
    context.moveTo(x(a), y(a));
    context.lineTo(x(graph.b[k]), y(graph.b[k]));
    context.stroke();
  });
  const usual = dotSize(graph.names.length) * (scale / SIDE) * 0.5;
  const sizes = letterSizes(graph, look).map((letters) => Math.min(letters * (scale / SIDE), 13));
  context.textAlign = "center";
  context.textBaseline = "middle";
  graph.names.forEach((name, at) => {
    const size = usual * (look.size?.[at] ?? 1);
    context.fillStyle = look.fill[at];
    if (look.square?.[at]) context.fillRect(x(at) - size, y(at) - size, 2 * size, 2 * size);
    else {
      context.beginPath();
      context.arc(x(at), y(at), size, 0, 2 * Math.PI);
      context.fill();
    }
    if (graph.names.length <= NAMED && sizes[at] >= READABLE) {
      context.font = `${sizes[at].toFixed(1)}px sans-serif`;
      context.fillStyle = colours.ink;
      context.fillText(shorten(look.labels?.[at] ?? name), x(at), y(at) - size - 8);
    }
  });
}

function open(cytoscape, container, { graph, style }) {
  const nodes = graph.names.map((_, at) => ({
    data: { id: `v${at}`, at },
    position: { x: SIDE * graph.x[at], y: SIDE * graph.y[at] },
  }));
  const edges = graph.a.map((a, k) => ({ data: { id: `e${k}`, at: k, source: `v${a}`, target: `v${graph.b[k]}` } }));
  return cytoscape({
    container,
    elements: { nodes, edges },
    style,
    layout: { name: "preset", padding: 24 },
    autoungrabify: true,
    boxSelectionEnabled: false,
    hideEdgesOnViewport: edges.length > MOVED_EDGES,
    textureOnViewport: nodes.length > NAMED,
    // The wheel belongs to the page until the graph has the focus.
    userZoomingEnabled: false,
    minZoom: 0.05,
    maxZoom: 12,
  });
}

/**
 * Return the style of a graph, with functions only where its elements differ, as each is called for every element.
 * @param {GraphView} graph
 * @param {Look} look
 */
function styleOf(graph, look, { directed, place }) {
  const colours = paletteOf(place);
  const size = dotSize(graph.names.length);
  const at = (element) => element.data("at");
  const dot = look.size ? (node) => size * look.size[at(node)] : size;
  const line = look.edge?.share ? (edge) => edgeColour(look, at(edge), colours) : colours.line;
  const letters = letterSizes(graph, look);
  const named = graph.names.length <= NAMED && {
    label: (node) => shorten(look.labels?.[at(node)] ?? graph.names[at(node)]),
    "font-size": (node) => letters[at(node)],
    "min-zoomed-font-size": READABLE,
    color: colours.ink,
    "text-valign": "top",
    "text-margin-y": -2,
    "text-background-color": colours.paper,
    "text-background-opacity": 0.75,
  };
  // The quick kind of edges has no arrows.
  const kind = directed
    ? { "curve-style": "straight", "target-arrow-shape": "triangle", "target-arrow-color": line, "arrow-scale": 1.4 }
    : { "curve-style": "haystack", "haystack-radius": 0 };
  return [
    {
      selector: "node",
      style: {
        width: dot,
        height: dot,
        "background-color": (node) => look.fill[at(node)],
        ...(look.square && { shape: (node) => (look.square[at(node)] ? "rectangle" : "ellipse") }),
        ...named,
      },
    },
    { selector: "edge", style: { width: look.edge ? (edge) => 1.6 * look.edge.width[at(edge)] : 2, "line-color": line, ...kind } },
    { selector: ".chosen", style: { "border-width": size * 0.25, "border-color": colours.ink } },
  ];
}

function edgeColour(look, at, colours) {
  const share = look.edge?.share?.[at];
  return share === undefined || share === null ? colours.line : intensity(share, colours);
}

function dotSize(vertices) {
  return Math.min(Math.max(560 / Math.sqrt(vertices), 7), 64);
}

/** Return the sizes of letters with which names in a row do not run into each other. */
function letterSizes({ names, x, y }, look) {
  const sizes = names.map(() => LARGE);
  if (names.length > NAMED) return sizes;
  const wide = names.map((name, at) => shorten(look.labels?.[at] ?? name).length + 1);
  for (let a = 0; a < names.length; a++) {
    for (let b = 0; b < a; b++) {
      if (Math.abs(y[a] - y[b]) >= ROW) continue;
      const size = Math.max((2 * SIDE * Math.abs(x[a] - x[b])) / (LETTER * (wide[a] + wide[b])), SMALL);
      [sizes[a], sizes[b]] = [Math.min(sizes[a], size), Math.min(sizes[b], size)];
    }
  }
  return sizes;
}

function shorten(name) {
  const text = String(name);
  return text.length > WRITTEN ? `${text.slice(0, WRITTEN - 1)}…` : text;
}

function describe(graph, at, tell) {
  const many = graph.counts[at] > 1 ? ` and ${graph.counts[at] - 1} more` : "";
  return `${shorten(graph.names[at])}${many}${tell ? `: ${tell(at)}` : ""}`;
}

function move(event, drawn) {
  const steps = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
  const zooms = { "+": 1.25, "=": 1.25, "-": 0.8 };
  if (!drawn || !(event.key in steps || event.key in zooms || event.key === "0")) return;
  event.preventDefault();
  if (event.key in steps) drawn.panBy({ x: steps[event.key][0], y: steps[event.key][1] });
  else if (event.key === "0") drawn.fit(undefined, 24);
  else drawn.zoom({ level: drawn.zoom() * zooms[event.key], renderedPosition: { x: drawn.width() / 2, y: drawn.height() / 2 } });
}
