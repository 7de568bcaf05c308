/**
 * Pictures of a placed network: the schedule as a Gantt chart, memory over time, load of devices, and their traffic.
 *
 * @import { PlacementReport, PlacementView } from "./types"
 */

import { KINDS } from "./draw/colours.js";
import { describeMemory, gantt, memory, rowsHeight, tellGantt } from "./draw/gantt.js";
import { Graph } from "./draw/graph.js";
import { Picture } from "./draw/picture.js";
import { stacks, stacksHeight } from "./draw/stacks.js";
import { formatBytes, formatNumber, formatSeconds, formatShare, largest } from "./numbers.js";
import { html, useMemo, useState } from "./vendor/preact.js";

/**
 * Show the pictures of a placement view.
 * @param {{view: PlacementView, report: PlacementReport}} props
 */
export function NetworkPictures({ view, report }) {
  return html`<section aria-label="Pictures">
    ${view.timeline ? html`<h2>An iteration</h2><${Iteration} view=${view} />` : html`<h2>Load</h2><${Load} view=${view} />`}
    <h2>Stages</h2>
    <${StageTable} view=${view} report=${report} />
    ${view.traffic.a.length > 0 && html`<h2>Traffic between devices</h2><${Traffic} view=${view} />`}
  </section>`;
}

/**
 * Show when each device runs which pass, and what it holds meanwhile.
 * @param {{view: PlacementView}} props
 */
export function Iteration({ view }) {
  const { timeline } = view;
  const [start, setStart] = useState(0);
  const [zoom, setZoom] = useState(1);
  const span = timeline.iteration_s / zoom;
  const begin = Math.min(start * timeline.iteration_s, timeline.iteration_s - span);
  const window = { start: begin, end: begin + span };
  const draw = useMemo(() => gantt(view, window), [view, start, zoom]);
  const tell = useMemo(() => tellGantt(view, window), [view, start, zoom]);
  const held = useMemo(() => memory(view, window), [view, start, zoom]);
  const height = rowsHeight(view.rows.length);
  const thin = timeline.thinned ? ` Of ${formatNumber(timeline.total)} passes so many are shown as have room.` : "";
  return html`<div>
    <p class="row"><label class="slide">Enlarge <input type="range" min="1" max="32" step="1" value=${zoom} onInput=${(event) => setZoom(Number(event.target.value))} /></label>
      <label class="slide">From <input type="range" min="0" max="1" step="0.01" value=${start} disabled=${zoom === 1} onInput=${(event) => setStart(Number(event.target.value))} /></label></p>
    <${Picture} name="schedule" title="Schedule" caption=${`${formatSeconds(timeline.iteration_s)} an iteration; devices run no pass for ${formatShare(timeline.bubble)} of it (the bubble).${thin}`} height=${height} draw=${draw} tell=${tell} />
    <${Picture} name="memory" title="Memory over time" caption=${describeMemory(view)} height=${height} draw=${held} />
  </div>`;
}

/**
 * Show the seconds of each device for one microbatch.
 * @param {{view: PlacementView}} props
 */
export function Load({ view }) {
  const draw = useMemo(() => stacks({
    names: view.rows.map((row) => row.name),
    parts: [
      { label: "computing", colour: KINDS[0], values: view.compute_s },
      { label: "sending and receiving", colour: KINDS[1], values: view.communication_s },
    ],
    bound: null,
    axis: "time of a microbatch",
  }), [view]);
  const sums = view.compute_s.map((seconds, row) => seconds + view.communication_s[row]);
  const worst = sums.indexOf(largest(sums));
  return html`<${Picture} name="load" title="Load of devices" caption=${`${view.rows[worst]?.name} is the bottleneck with ${formatSeconds(sums[worst])}. ${describeMemory(view)}`} height=${stacksHeight(view.rows.length)} draw=${draw} />`;
}

/** @param {{view: PlacementView, report: PlacementReport}} props */
function StageTable({ view, report }) {
  return html`<div class="wide" tabindex="0" role="region" aria-label="Stages"><table>
    <thead><tr><th scope="col">position</th><th scope="col">devices</th><th scope="col">holds</th><th scope="col" class="number">computes</th><th scope="col" class="number">sends</th><th scope="col" class="number">memory</th></tr></thead>
    <tbody>${view.rows.map((row, k) => html`<tr><th scope="row">${row.name}</th><td>${shorten(row.devices)}</td><td>${row.first === row.last ? row.first : `${row.first} to ${row.last}`} (${formatNumber(row.operators)})</td>
      <td class="number">${formatSeconds(view.compute_s[k])}</td><td class="number">${formatSeconds(view.communication_s[k])}</td><td class="number">${formatBytes(view.memory.peak_bytes[k])}</td></tr>`)}</tbody>
  </table></div>`;
}

/** @param {{view: PlacementView}} props */
function Traffic({ view }) {
  const { traffic } = view;
  const order = useMemo(() => placesInOrder(traffic.names), [view]);
  const most = largest(traffic.bytes) || 1;
  const graph = useMemo(() => {
    const count = traffic.names.length;
    const angle = (k) => (2 * Math.PI * k) / count - Math.PI / 2;
    return {
      names: traffic.names, counts: traffic.names.map(() => 1), total: count, total_edges: traffic.a.length, directed: false,
      x: order.map((at) => 0.5 + 0.5 * Math.cos(angle(at))), y: order.map((at) => 0.5 + 0.5 * Math.sin(angle(at))),
      a: traffic.a, b: traffic.b, weight: traffic.bytes,
    };
  }, [view]);
  const look = useMemo(() => ({
    fill: traffic.names.map(() => KINDS[0]),
    edge: { share: traffic.bytes.map((bytes) => bytes / most), width: traffic.bytes.map((bytes) => 0.8 + 5 * (bytes / most)) },
  }), [view]);
  const at = traffic.bytes.indexOf(most);
  const caption = `Most goes between ${traffic.names[traffic.a[at]]} and ${traffic.names[traffic.b[at]]}: ${formatBytes(most)} an iteration.`;
  return html`<${Graph} name="traffic" title="Traffic" caption=${caption} graph=${graph} look=${look} />`;
}

/** Return the place of every name when they are in order, gpu2 before gpu10. */
function placesInOrder(names) {
  const sorted = names.map((_, k) => k).sort((a, b) => names[a].localeCompare(names[b], "en", { numeric: true }));
  const places = [];
  sorted.forEach((k, place) => { places[k] = place; });
  return places;
}

function shorten(devices) {
  return devices.length > 4 ? `${devices.slice(0, 3).join(", ")} and ${devices.length - 3} more` : devices.join(", ");
}
