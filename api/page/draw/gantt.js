/**
 * A Gantt chart of a schedule: what every position does when, and over the same time what it holds in memory.
 *
 * @import { PlacementView } from "../types"
 * @typedef {{start: number, end: number}} Window
 */

import { formatBytes, formatSeconds, largest, ticksTo } from "../numbers.js";
import { KINDS } from "./colours.js";
import { drawBottomAxis, drawLegend, drawLine, plotArea } from "./axes.js";

const ROW = 26, TOP = 36, BOTTOM = 40, LEFT = 96, RIGHT = 12;
const COLOURS = { forward: KINDS[0], backward: KINDS[1], weight: KINDS[2], message: KINDS[6], "all-reduce": KINDS[3], operator: KINDS[0] };
const HELD = KINDS[5], STATE = KINDS[0], OVER = KINDS[1];
/** Pixels of a bar that have room for the number of its microbatch. */
const NUMBERED = 15;

/** Return the height of a chart of so many rows. */
export function rowsHeight(rows) {
  return TOP + BOTTOM + rows * rowHeight(rows);
}

/**
 * Return a function that draws the part of a timeline from one time to another.
 * @param {PlacementView} view
 * @param {Window} window
 */
export function gantt(view, window) {
  return (context, frame) => {
    const area = rowArea(frame, view.rows.length, window);
    drawRowNames(context, area, view.rows, frame.colours);
    const { timeline } = view;
    timeline.start_s.forEach((start, k) => {
      const end = timeline.end_s[k];
      if (end < window.start || start > window.end) return;
      const left = Math.max(area.at(start), area.left), right = Math.min(area.at(end), area.left + area.width);
      const thin = timeline.kind[k] === "message";
      const high = area.row * (thin ? 0.4 : 0.8);
      const y = area.top + (timeline.row[k] + 0.5) * area.row - high / 2;
      context.fillStyle = COLOURS[timeline.kind[k]];
      context.fillRect(left, y, Math.max(right - left - (right - left > 4 ? 1 : 0), 0.5), high);
      if (!thin && right - left > NUMBERED && area.row > 14 && timeline.microbatch[k] >= 0) {
        drawNumber(context, String(timeline.microbatch[k] + 1), (left + right) / 2, y + high / 2);
      }
    });
    drawTime(context, area, frame.colours, window);
    const seen = Object.keys(COLOURS).filter((kind) => timeline.kind.includes(kind));
    drawLegend(context, seen.map((kind) => [COLOURS[kind], kind === "weight" ? "weight gradient" : kind]), LEFT, 14, frame.colours);
  };
}

/**
 * Return a function that tells what runs under a point.
 * @param {PlacementView} view
 * @param {Window} window
 */
export function tellGantt(view, window) {
  return (x, y, frame) => {
    const area = rowArea(frame, view.rows.length, window);
    const row = Math.floor((y - area.top) / area.row);
    const time = window.start + ((x - area.left) / area.width) * (window.end - window.start);
    const { timeline } = view;
    const k = timeline.start_s.findIndex((start, at) => timeline.row[at] === row && start <= time && time < timeline.end_s[at]);
    if (k < 0) return null;
    const what = timeline.microbatch[k] < 0 ? "" : ` of microbatch ${timeline.microbatch[k] + 1}, stage ${timeline.stage[k] + 1}`;
    return `${view.rows[row].name}: ${timeline.kind[k]}${what}, ${formatSeconds(timeline.start_s[k])} to ${formatSeconds(timeline.end_s[k])}`;
  };
}

/**
 * Return a function that draws what every row holds over time, and its limit.
 * @param {PlacementView} view
 * @param {Window} window
 */
export function memory(view, window) {
  const { limit_bytes, peak_bytes, state_bytes, when_s, held_bytes } = view.memory;
  const top = largest([...peak_bytes, ...limit_bytes.filter((limit) => limit < 4 * largest(peak_bytes))]);
  return (context, frame) => {
    const area = rowArea(frame, view.rows.length, window);
    drawRowNames(context, area, view.rows, frame.colours);
    view.rows.forEach((_, row) => {
      const floor = area.top + (row + 0.95) * area.row, high = 0.86 * area.row;
      const times = when_s[row]?.length ? when_s[row] : [window.start], sizes = when_s[row]?.length ? held_bytes[row] : [peak_bytes[row]];
      times.forEach((time, k) => {
        const until = times[k + 1] ?? window.end;
        const left = Math.max(area.at(time), area.left), right = Math.min(area.at(until), area.left + area.width);
        if (right <= left) return;
        context.fillStyle = sizes[k] > limit_bytes[row] ? OVER : HELD;
        context.fillRect(left, floor - (high * sizes[k]) / top, right - left, (high * sizes[k]) / top);
      });
      context.fillStyle = STATE;
      context.fillRect(area.left, floor - (high * (state_bytes[row] ?? 0)) / top, area.width, (high * (state_bytes[row] ?? 0)) / top);
      if (limit_bytes[row] <= top) {
        const y = floor - (high * limit_bytes[row]) / top;
        context.setLineDash([5, 4]);
        drawLine(context, [area.left, y, area.left + area.width, y], frame.colours.ink);
        context.setLineDash([]);
      }
    });
    drawTime(context, area, frame.colours, window);
    drawLegend(context, [[STATE, "parameters and state"], [HELD, "held for microbatches"], ...(limit_bytes.some((limit) => limit <= top) ? [[frame.colours.ink, "limit (dashed)"]] : [])], LEFT, 14, frame.colours);
  };
}

/**
 * Return a sentence on the memory of the row that is closest to its limit.
 * @param {PlacementView} view
 */
export function describeMemory({ rows, memory: { limit_bytes, peak_bytes } }) {
  const shares = peak_bytes.map((peak, row) => peak / limit_bytes[row]);
  const worst = shares.indexOf(largest(shares));
  if (worst < 0) return "Nothing is held.";
  const limit = Number.isFinite(limit_bytes[worst]) && limit_bytes[worst] ? ` of ${formatBytes(limit_bytes[worst])}` : "";
  return `${rows[worst].name} is the fullest: ${formatBytes(peak_bytes[worst])}${limit}.`;
}

function rowHeight(rows) {
  return Math.max(Math.min(ROW, 640 / rows), 3);
}

function rowArea(frame, rows, window) {
  const area = plotArea(frame, 1, 1, { left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM });
  area.row = rowHeight(rows);
  area.at = (time) => area.left + (area.width * (time - window.start)) / (window.end - window.start || 1);
  return area;
}

function drawRowNames(context, area, rows, colours) {
  context.font = "12px sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = colours.faint;
  const step = Math.ceil(14 / area.row);
  rows.forEach((row, k) => {
    if (k % step === 0) context.fillText(row.name.length > 13 ? `${row.name.slice(0, 12)}…` : row.name, area.left - 6, area.top + (k + 0.5) * area.row);
  });
}

function drawTime(context, area, colours, window) {
  const span = window.end - window.start;
  const ticks = ticksTo(span, Math.max(2, Math.floor(area.width / 110)));
  drawBottomAxis(context, area, colours, { ticks, at: (tick) => area.at(window.start + tick), name: "time", format: (tick) => formatSeconds(window.start + tick || 0) });
}

function drawNumber(context, text, x, y) {
  context.font = "11px sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = "#fff";
  context.fillText(text, x, y);
}
