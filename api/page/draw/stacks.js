/**
 * Stacked bars, a row each: where the time of plans and of devices goes.
 */

import { formatSeconds, largest, ticksTo } from "../numbers.js";
import { drawBottomAxis, drawLegend, drawLine, plotArea } from "./axes.js";

const ROW = 26, TOP = 40, BOTTOM = 44, RIGHT = 70;
/** Pixels for the names of rows: a part of the width, within bounds. */
const NAMES = { part: 0.34, least: 60, most: 330 };
/** Pixels of a letter. */
const LETTER = 6.4;

/** Return the height of so many bars. */
export function stacksHeight(rows) {
  return TOP + BOTTOM + rows * ROW;
}

/**
 * Return a function that draws bars of parts.
 * @param {{names: string[], parts: {label: string, colour: string, values: number[]}[], bound: number | null, axis:
 *   string}} chart
 */
export function stacks({ names, parts, bound, axis }) {
  const totals = names.map((_, row) => parts.reduce((sum, part) => sum + part.values[row], 0));
  const end = largest([...totals, bound ?? 0]);
  const longest = largest(names.map((name) => name.length));
  return (context, frame) => {
    const wanted = LETTER * (longest + 2);
    const left = Math.max(Math.min(wanted, NAMES.part * frame.width, NAMES.most), NAMES.least);
    const area = plotArea(frame, end, 1, { left, right: RIGHT, top: TOP, bottom: BOTTOM });
    context.lineWidth = 1;
    for (const tick of ticksTo(end, 4)) drawLine(context, [area.x(tick), area.top, area.x(tick), area.top + area.height], frame.colours.line);
    names.forEach((name, row) => {
      const y = area.top + row * ROW;
      let from = 0;
      for (const part of parts) {
        context.fillStyle = part.colour;
        context.fillRect(area.x(from), y + 3, area.x(from + part.values[row]) - area.x(from), ROW - 6);
        from += part.values[row];
      }
      write(context, fit(name, left), left - 6, y + ROW / 2, frame.colours.ink, "right");
      write(context, formatSeconds(totals[row]), area.x(from) + 5, y + ROW / 2, frame.colours.faint, "left");
    });
    if (bound !== null) {
      context.setLineDash([5, 4]);
      drawLine(context, [area.x(bound), area.top - 4, area.x(bound), area.top + area.height], frame.colours.ink);
      context.setLineDash([]);
    }
    drawBottomAxis(context, area, frame.colours, { ticks: ticksTo(end, 4), at: area.x, name: axis, format: formatSeconds });
    drawLegend(context, parts.map(({ label, colour }) => [colour, label]), 8, 14, frame.colours, frame.width);
  };
}

function fit(name, width) {
  const most = Math.floor(width / LETTER);
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

function write(context, text, x, y, colour, align) {
  context.font = "12px sans-serif";
  context.textAlign = align;
  context.textBaseline = "middle";
  context.fillStyle = colour;
  context.fillText(text, x, y);
}
