/**
 * Communication matrices, tasks in the order of the hardware they lie on: traffic near the diagonal stays near.
 */

import { formatNumber } from "../numbers.js";
import { amount } from "./colours.js";
import { drawLine } from "./axes.js";

/** Shades of traffic, which the eye can tell apart no better. */
const SHADES = 32;
const PAD = { left: 8, top: 26, gap: 16, bottom: 26 };

/** Return the height of the two matrices side by side in a width, or below each other in a narrow one. */
export function matrixHeight(width, count) {
  return Math.round(Math.min((width - PAD.left * 2 - PAD.gap * (count - 1)) / count, 460)) + PAD.top + PAD.bottom;
}

/** Return a function that draws the matrices of a mapping view side by side, with one scale. */
export function matrices(view) {
  const most = Math.max(...view.orders.flatMap((order) => order.value), 0);
  const shaded = view.orders.map((order) => sortByShade(order, most));
  return (context, frame) => {
    const side = sideOf(frame, view.orders.length);
    view.orders.forEach((order, k) => {
      const left = PAD.left + k * (side + PAD.gap);
      context.font = "600 13px sans-serif";
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillStyle = frame.colours.ink;
      context.fillText(k || view.orders.length === 1 ? "TIGER" : `${order.name} order`, left, 12);
      drawCells(context, order, shaded[k], { left, side, size: view.matrix.size });
      context.strokeStyle = frame.colours.line;
      context.lineWidth = 1;
      context.strokeRect(left, PAD.top, side, side);
    });
    drawScale(context, frame, most, PAD.top + side + 14);
  };
}

/** Return a function that tells which tasks talk under a point. */
export function tellMatrix(view) {
  return (x, y, frame) => {
    const side = sideOf(frame, view.orders.length);
    const k = Math.floor((x - PAD.left) / (side + PAD.gap));
    const order = view.orders[k];
    const column = Math.floor(((x - PAD.left - k * (side + PAD.gap)) / side) * view.matrix.size);
    const row = Math.floor(((y - PAD.top) / side) * view.matrix.size);
    if (!order || row < 0 || row >= view.matrix.size || column >= view.matrix.size) return null;
    const found = order.row.findIndex((at, entry) => at === row && order.column[entry] === column);
    return `${k || view.orders.length === 1 ? "TIGER" : order.name}, position ${row} to ${column}: traffic ${found < 0 ? 0 : formatNumber(order.value[found])}`;
  };
}

function sideOf({ width, height }, count) {
  return Math.min((width - PAD.left * 2 - PAD.gap * (count - 1)) / count, height - PAD.top - PAD.bottom);
}

function sortByShade(order, most) {
  const shades = Array.from({ length: SHADES }, () => []);
  order.value.forEach((value, entry) => {
    // The root shows what is little beside what is most.
    shades[Math.min(Math.floor(Math.sqrt(value / most) * SHADES), SHADES - 1)].push(entry);
  });
  return shades;
}

function drawCells(context, order, shades, { left, side, size }) {
  const cell = side / size;
  context.fillStyle = amount(0);
  context.fillRect(left, PAD.top, side, side);
  shades.forEach((entries, shade) => {
    context.fillStyle = amount((shade + 1) / SHADES);
    for (const entry of entries) {
      context.fillRect(left + order.column[entry] * cell, PAD.top + order.row[entry] * cell, Math.max(cell, 0.6), Math.max(cell, 0.6));
    }
  });
}

function drawScale(context, { colours }, most, y) {
  context.font = "12px sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let k = 0; k < 100; k++) {
    context.fillStyle = amount(k / 99);
    context.fillRect(PAD.left + k, y - 5, 1.5, 10);
  }
  drawLine(context, [PAD.left, y + 6, PAD.left + 100, y + 6], colours.line);
  context.fillStyle = colours.faint;
  context.fillText(`no traffic to ${formatNumber(most, 3)} between two, by its root`, PAD.left + 108, y);
}
