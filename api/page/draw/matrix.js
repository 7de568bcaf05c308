/**
 * Communication matrices, tasks in the order of the hardware they lie on: traffic near the diagonal stays near.
 *
 * @import { MappingView, Order } from "../types"
 */

import { formatNumber, largest } from "../numbers.js";
import { intensity } from "./colours.js";
import { drawLine } from "./axes.js";

/** Shades of traffic, which the eye can tell apart no better. */
const SHADES = 32;
const PAD = { left: 8, top: 26, gap: 16, bottom: 26 };
/** The longest side of a matrix, and the width of a picture below which one stands under the other. */
const LONGEST = 460, NARROW = 520;

/** Return the height of a picture of so many matrices in a width. */
export function matrixHeight(width, count) {
  const rows = width < NARROW ? count : 1;
  return Math.round(rows * (sideOf(width, count) + PAD.top)) + PAD.bottom;
}

/**
 * Return a function that draws the matrices of a mapping view side by side, with one scale.
 * @param {MappingView} view
 */
export function matrices(view) {
  const most = largest(view.orders.map((order) => largest(order.value)));
  const shaded = view.orders.map((order) => sortByShade(order, most));
  return (context, frame) => {
    const side = sideOf(frame.width, view.orders.length);
    view.orders.forEach((order, k) => {
      const [left, top] = cornerOf(k, side, frame.width);
      context.font = "600 13px sans-serif";
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillStyle = frame.colours.ink;
      context.fillText(k || view.orders.length === 1 ? "TIGER" : `${order.name} order`, left, top - 14);
      drawCells(context, order, shaded[k], { left, top, side, size: view.matrix.size, colours: frame.colours });
      context.strokeStyle = frame.colours.faint;
      context.lineWidth = 1;
      context.strokeRect(left, top, side, side);
    });
    drawScale(context, frame, most, frame.height - PAD.bottom + 14);
  };
}

/**
 * Return a function that tells which tasks talk under a point.
 * @param {MappingView} view
 */
export function tellMatrix(view) {
  return (x, y, frame) => {
    const side = sideOf(frame.width, view.orders.length);
    const k = view.orders.findIndex((_, at) => {
      const [left, top] = cornerOf(at, side, frame.width);
      return left <= x && x < left + side && top <= y && y < top + side;
    });
    if (k < 0) return null;
    const order = view.orders[k];
    const [left, top] = cornerOf(k, side, frame.width);
    const column = Math.floor(((x - left) / side) * view.matrix.size), row = Math.floor(((y - top) / side) * view.matrix.size);
    const found = order.row.findIndex((at, entry) => at === row && order.column[entry] === column);
    return `${k || view.orders.length === 1 ? "TIGER" : order.name}, position ${row} to ${column}: traffic ${found < 0 ? 0 : formatNumber(order.value[found])}`;
  };
}

function sideOf(width, count) {
  const columns = width < NARROW ? 1 : count;
  return Math.min((width - PAD.left * 2 - PAD.gap * (columns - 1)) / columns, LONGEST);
}

function cornerOf(k, side, width) {
  return width < NARROW ? [PAD.left, PAD.top + k * (side + PAD.top)] : [PAD.left + k * (side + PAD.gap), PAD.top];
}

/**
 * @param {Order} order
 * @param {number} most
 */
function sortByShade(order, most) {
  const shades = Array.from({ length: SHADES }, () => []);
  order.value.forEach((value, entry) => {
    // The root shows what is little beside what is most.
    shades[Math.min(Math.floor(Math.sqrt(value / most) * SHADES), SHADES - 1)].push(entry);
  });
  return shades;
}

function drawCells(context, order, shades, { left, top, side, size, colours }) {
  const cell = side / size;
  shades.forEach((entries, shade) => {
    context.fillStyle = intensity((shade + 1) / SHADES, colours);
    for (const entry of entries) {
      context.fillRect(left + order.column[entry] * cell, top + order.row[entry] * cell, Math.max(cell, 0.6), Math.max(cell, 0.6));
    }
  });
}

function drawScale(context, { colours }, most, y) {
  context.font = "12px sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let k = 0; k < 100; k++) {
    context.fillStyle = intensity(k / 99, colours);
    context.fillRect(PAD.left + k, y - 5, 1.5, 10);
  }
  drawLine(context, [PAD.left, y + 6, PAD.left + 100, y + 6], colours.line);
  context.fillStyle = colours.faint;
  context.fillText(`no traffic to ${formatNumber(most, 3)} from one to another, by its root`, PAD.left + 108, y);
}
