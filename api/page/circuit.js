/**
 * Pictures of a routed circuit: its layout on the device with error rates, SWAPs over time, and its gates.
 *
 * @import { CircuitReport, CircuitView } from "./types"
 */

import { bars, tellBars } from "./draw/bars.js";
import { IDLE, KINDS } from "./draw/colours.js";
import { gates, gatesHeight, layersIn, usedQubits } from "./draw/gates.js";
import { Graph } from "./draw/graph.js";
import { Picture } from "./draw/picture.js";
import { countOf, formatNumber, formatShare, largest } from "./numbers.js";
import { html, useMemo, useState } from "./vendor/preact.js";

/**
 * Show the pictures of a circuit view.
 * @param {{view: CircuitView, report: CircuitReport}} props
 */
export function CircuitPictures({ view, report }) {
  return html`<section aria-label="Pictures">
    <h2>Where qubits lie</h2>
    <${Device} view=${view} />
    <h2>SWAPs over time</h2>
    <${Swaps} view=${view} report=${report} />
    <h2>The routed circuit</h2>
    <${Gates} view=${view} />
  </section>`;
}

/**
 * Show the device with the circuit's qubits at the beginning.
 * @param {{view: CircuitView}} props
 */
export function Device({ view }) {
  const { device, edge_error, readout_error, initial } = view;
  const known = edge_error.filter((error) => error !== null);
  const worst = largest(known) || 1;
  const virtual = useMemo(() => new Map(initial.map((qubit, k) => [qubit, k])), [view]);
  const used = useMemo(() => countUse(view), [view]);
  const look = useMemo(() => ({
    fill: device.names.map((_, qubit) => (virtual.has(qubit) ? KINDS[0] : used.qubits.has(qubit) ? KINDS[5] : IDLE)),
    labels: device.names.map((name, qubit) => (virtual.has(qubit) ? `q${virtual.get(qubit)} on ${name}` : name)),
    edge: {
      share: edge_error.map((error) => (error === null ? null : Math.sqrt(error / worst))),
      width: device.a.map((a, k) => (used.pairs.has(pairKey(a, device.b[k])) ? 4 : 1.2)),
    },
  }), [view]);
  const errors = known.length ? ` The strongest colours are errors of up to ${formatShare(worst)}.` : "";
  const caption = `${countOf(initial.length, "qubit")} of the circuit (blue) on a device of ${formatNumber(device.total)}; light blue ones are passed through. Thick links carry gates.${errors}`;
  return html`<${Graph} name="layout" title="Layout" caption=${caption} graph=${device} look=${look}
    tell=${(qubit) => [virtual.has(qubit) ? `circuit qubit ${virtual.get(qubit)}` : "free", readout_error[qubit] === null ? "" : `readout error ${formatShare(readout_error[qubit])}`].filter(Boolean).join(", ")} />`;
}

/** @param {{view: CircuitView, report: CircuitReport}} props */
function Swaps({ view, report }) {
  const chart = useMemo(() => ({
    names: ["SWAPs"],
    labels: view.swaps.map((_, k) => formatNumber(Math.floor(k * view.layers_per_bin))),
    values: [view.swaps],
    xName: "layer",
    yName: "SWAPs",
  }), [view]);
  const draw = useMemo(() => bars(chart), [chart]);
  const tell = useMemo(() => tellBars(chart), [chart]);
  if (!report.swaps) return html`<p>No SWAP is needed${report.bridges ? "; bridges do without" : ""}.</p>`;
  const half = view.swaps.slice(0, Math.ceil(view.swaps.length / 2)).reduce((sum, count) => sum + count, 0);
  const caption = `${countOf(report.swaps, "SWAP")} in ${countOf(view.layers, "layer")}, ${formatShare(half / report.swaps)} of them in the first half.`;
  return html`<${Picture} name="swaps" title="SWAPs" caption=${caption} height=${220} draw=${draw} tell=${tell} />`;
}

/** @param {{view: CircuitView}} props */
function Gates({ view }) {
  const [from, setFrom] = useState(0);
  const qubits = useMemo(() => usedQubits(view), [view]);
  const draw = useMemo(() => gates(view, qubits, from), [view, from]);
  const last = Math.max(view.layers - layersIn(Math.min(innerWidth - 48, 1100)), 0);
  const some = view.name.length < view.total_gates ? ` The first ${formatNumber(view.name.length)} of ${formatNumber(view.total_gates)} gates are here.` : "";
  return html`<div>
    <label class="slide">Layers from ${formatNumber(from)} of ${formatNumber(view.layers)} on <input type="range" min="0" max=${last} value=${from} disabled=${last === 0} onInput=${(event) => setFrom(Number(event.target.value))} /></label>
    <${Picture} name="circuit" title="Gates" caption=${`A line is a device qubit, q1→5 where circuit qubit 1 begins on it; crosses are SWAPs.${some}`} height=${gatesHeight(qubits.length)} draw=${draw} />
  </div>`;
}

/** @param {CircuitView} view */
function countUse({ first, second }) {
  const qubits = new Set(first), pairs = new Set();
  second.forEach((qubit, k) => {
    if (qubit < 0) return;
    qubits.add(qubit);
    pairs.add(pairKey(first[k], qubit));
  });
  return { qubits, pairs };
}

function pairKey(a, b) {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}
