/**
 * A routed circuit: a line for every device qubit, gates in their layers, SWAPs as crosses.
 *
 * @import { CircuitView } from "../types"
 */

import { KINDS } from "./colours.js";
import { drawLine } from "./axes.js";

const ROW = 24, LEFT = 56, TOP = 18, COLUMN = 30;
/** Pixels between gates of a layer whose lines would lie on each other, and how many stand beside each other. */
const BESIDE = 14, LANES = 3;

/**
 * Return the device qubits that gates of a circuit view use, in order.
 * @param {CircuitView} view
 */
export function usedQubits({ first, second, initial }) {
  const used = new Set([...initial, ...first, ...second.filter((qubit) => qubit >= 0)]);
  return [...used].sort((a, b) => a - b);
}

/** Return how many layers fit into a width. */
export function layersIn(width) {
  return Math.max(4, Math.floor((width - LEFT - 12) / COLUMN));
}

/** Return the height of a picture of so many qubits. */
export function gatesHeight(qubits) {
  return TOP + qubits * ROW + 8;
}

/**
 * Return a function that draws the layers of a circuit from a first one on.
 * @param {CircuitView} view
 * @param {number[]} qubits
 * @param {number} from
 */
export function gates(view, qubits, from) {
  const shift = shiftGates(view, qubits);
  const row = new Map(qubits.map((qubit, k) => [qubit, TOP + (k + 0.5) * ROW]));
  const virtual = new Map(view.initial.map((qubit, k) => [qubit, k]));
  return (context, frame) => {
    const count = layersIn(frame.width);
    context.lineWidth = 1;
    for (const qubit of qubits) {
      const y = row.get(qubit);
      drawLine(context, [LEFT, y, frame.width - 8, y], frame.colours.line);
      write(context, nameOf(qubit, virtual), LEFT - 6, y, frame.colours.faint, "right");
    }
    view.layer.forEach((layer, k) => {
      if (layer < from || layer >= from + count) return;
      const x = LEFT + (layer - from + 0.5) * COLUMN + shift[k];
      drawGate(context, { name: view.name[k], x, y: row.get(view.first[k]), to: row.get(view.second[k]) }, frame.colours);
    });
  };
}

/** Return by how many pixels each gate is off the middle of its layer, so that none crosses another there. */
function shiftGates({ layer, first, second }, qubits) {
  const row = new Map(qubits.map((qubit, k) => [qubit, k]));
  const taken = new Map();
  return layer.map((at, k) => {
    const ends = [row.get(first[k]), row.get(second[k]) ?? row.get(first[k])].sort((a, b) => a - b);
    if (!taken.has(at)) taken.set(at, Array.from({ length: LANES }, () => []));
    const lanes = taken.get(at);
    const free = Math.max(lanes.findIndex((spans) => spans.every(([from, to]) => to < ends[0] || ends[1] < from)), 0);
    lanes[free].push(ends);
    return [0, BESIDE, -BESIDE][free];
  });
}

function nameOf(qubit, virtual) {
  return virtual.has(qubit) ? `q${virtual.get(qubit)}→${qubit}` : `${qubit}`;
}

function drawGate(context, { name, x, y, to }, colours) {
  const swap = name === "swap";
  if (to !== undefined) {
    context.lineWidth = swap ? 2.5 : 1.5;
    drawLine(context, [x, y, x, to], swap ? KINDS[1] : KINDS[0]);
    for (const end of [y, to]) (swap ? drawCross : drawDot)(context, x, end);
    return;
  }
  context.fillStyle = colours.paper;
  context.fillRect(x - 12, y - 9, 24, 18);
  context.strokeStyle = colours.faint;
  context.lineWidth = 1;
  context.strokeRect(x - 12, y - 9, 24, 18);
  write(context, name === "measure" ? "M" : name.length > 4 ? name.slice(0, 3) : name, x, y, colours.ink, "center");
}

function drawCross(context, x, y) {
  drawLine(context, [x - 5, y - 5, x + 5, y + 5], KINDS[1]);
  drawLine(context, [x - 5, y + 5, x + 5, y - 5], KINDS[1]);
}

function drawDot(context, x, y) {
  context.fillStyle = KINDS[0];
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fill();
}

function write(context, text, x, y, colour, align) {
  context.font = "11px sans-serif";
  context.textAlign = align;
  context.textBaseline = "middle";
  context.fillStyle = colour;
  context.fillText(text, x, y);
}
