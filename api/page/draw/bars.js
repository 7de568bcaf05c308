/**
 * Bars: the traffic at every distance before and after, and SWAPs over the layers of a circuit.
 */

import { formatMark, formatNumber, largest } from "../numbers.js";
import { AFTER, BEFORE } from "./colours.js";
import { drawBottomAxis, drawLeftAxis, drawLegend, MARGIN, plotArea } from "./axes.js";

const COLOURS = [BEFORE, AFTER];

/**
 * Return a function that draws bars in groups.
 * @param {{names: string[], labels: string[], values: number[][], xName: string, yName: string}} chart `values` has a
 *   row for every name of the legend.
 */
export function bars({ names, labels, values, xName, yName }) {
  return (context, frame) => {
    const end = largest(values.map(largest));
    const area = plotArea(frame, labels.length, end, { ...MARGIN, top: 40 });
    drawLeftAxis(context, area, frame.colours, { end, name: yName, format: formatMark });
    const room = area.width / labels.length;
    const wide = (0.84 * room) / values.length;
    values.forEach((row, k) => {
      context.fillStyle = COLOURS[(k + 2 - values.length) % 2];
      row.forEach((value, group) => {
        context.fillRect(area.x(group) + 0.08 * room + k * wide, area.y(value), wide, area.top + area.height - area.y(value));
      });
    });
    const step = Math.ceil(46 / room);
    const ticks = labels.map((_, group) => group).filter((group) => group % step === 0);
    drawBottomAxis(context, area, frame.colours, { ticks, at: (group) => area.x(group + 0.5), name: xName, format: (group) => labels[group] });
    if (names.length > 1) drawLegend(context, names.map((name, k) => [COLOURS[k], name]), area.left, 24, frame.colours);
  };
}

/** Return a function that tells the values of the group under a point. */
export function tellBars({ names, labels, values, xName }) {
  return (x, _, frame) => {
    const area = plotArea(frame, labels.length, 1);
    const group = Math.floor(((x - area.left) / area.width) * labels.length);
    if (group < 0 || group >= labels.length) return null;
    return `${xName} ${labels[group]}: ${names.map((name, k) => `${name} ${formatNumber(values[k][group])}`).join(", ")}`;
  };
}
