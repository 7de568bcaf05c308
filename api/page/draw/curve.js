/**
 * Convergence: the best cost over time, and under it the bound that none can beat.
 */

import { formatMark, formatSeconds, ticksTo } from "../numbers.js";
import uPlot from "../vendor/uplot.js";
import { html, useEffect, useRef } from "../vendor/preact.js";
import { AFTER, BEFORE, KINDS, paletteOf } from "./colours.js";
import { drawBottomAxis, drawLegend, drawLine } from "./axes.js";
import { Keep } from "./picture.js";

const HEIGHT = 240;

/**
 * Show curves over seconds.
 * @param {{name: string, title: string, caption: string, seconds: number[], cost: (number | null)[],
 *   bound: (number | null)[], simple: {name: string, cost: number} | null, format: (cost: number | null) => string}} props `simple` is
 *   what is to be beaten.
 */
export function Curve({ name, title, caption, seconds, cost, bound, simple, format }) {
  const place = useRef(null);
  const plot = useRef(null);
  const bounded = bound.some((value) => value !== null);
  /** @type {[number[], ...(number | null)[][]]} */
  const data = [seconds, cost, ...(bounded ? [bound] : []), ...(simple ? [seconds.map(() => simple.cost)] : [])];
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const build = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(element, { simple: simple?.name, bounded, format }), data, element);
    };
    build();
    const watcher = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    watcher.observe(element);
    document.addEventListener("themechange", build);
    return () => {
      watcher.disconnect();
      document.removeEventListener("themechange", build);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [bounded]);
  useEffect(() => {
    plot.current?.setData(data);
  }, [seconds.length, cost, bound]);
  return html`<figure class="picture">
    <figcaption><strong>${title}</strong> <span>${caption}</span></figcaption>
    <div class="curve" ref=${place} role="img" aria-label=${`${title}. ${caption}`}></div>
    <${Keep} name=${name} title=${`${title}. ${caption}`} height=${HEIGHT} told=""
      draw=${(context, frame) => drawCurves(context, frame, { seconds, cost, bound, simple, format })} />
  </figure>`;
}

function options(place, { simple, bounded, format }) {
  const colours = paletteOf(place);
  const texts = (write) => (_, values) => values.map((value) => write(value));
  const axis = { stroke: colours.faint, grid: { stroke: colours.line, width: 1 }, ticks: { stroke: colours.line } };
  const value = (_, amount) => format(amount);
  return {
    width: place.clientWidth,
    height: HEIGHT,
    scales: { x: { time: false } },
    axes: [{ ...axis, values: texts(formatSeconds), label: "time", space: 80 }, { ...axis, values: texts(markOf(format)), size: 74 }],
    cursor: { drag: { x: true, y: false } },
    series: [
      { label: "time", value: (_, second) => formatSeconds(second) },
      { label: "best cost", stroke: AFTER, width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: true, size: 5 }, value },
      ...(bounded ? [{ label: "lower bound", stroke: KINDS[2], width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value, spanGaps: true }] : []),
      ...(simple ? [{ label: simple, stroke: BEFORE, width: 1.5, dash: [6, 4], points: { show: false }, value }] : []),
    ],
  };
}

function drawCurves(context, frame, { seconds, cost, bound, simple, format }) {
  const known = [...cost, ...bound, simple?.cost].filter((value) => Number.isFinite(value) && value !== null);
  const low = Math.min(...known), high = Math.max(...known), span = high - low || 1;
  const end = seconds[seconds.length - 1] || 1;
  const area = { left: 70, top: 34, width: frame.width - 86, height: frame.height - 76 };
  const x = (second) => area.left + (area.width * second) / end, y = (value) => area.top + area.height * (1 - (value - low) / span);
  context.lineWidth = 1;
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    drawLine(context, [area.left, y(low + part * span), area.left + area.width, y(low + part * span)], frame.colours.line);
    context.font = "12px sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = frame.colours.faint;
    context.fillText(markOf(format)(low + part * span), area.left - 6, y(low + part * span));
  }
  drawBottomAxis(context, area, frame.colours, { ticks: ticksTo(end), at: x, name: "time", format: formatSeconds });
  context.lineWidth = 2;
  for (const [values, colour] of [[cost, AFTER], [bound, KINDS[2]], [seconds.map(() => simple?.cost ?? null), BEFORE]]) {
    drawSteps(context, seconds.map((second, k) => [x(second), values[k] === null ? null : y(values[k])]), colour);
  }
  drawLegend(context, [[AFTER, "best cost"], ...(bound.some((value) => value !== null) ? [[KINDS[2], "lower bound"]] : []), ...(simple ? [[BEFORE, simple.name]] : [])], area.left, 14, frame.colours);
}

function drawSteps(context, points, colour) {
  context.strokeStyle = colour;
  context.beginPath();
  let last = null;
  for (const [x, y] of points) {
    if (y === null) continue;
    if (last === null) context.moveTo(x, y);
    else {
      context.lineTo(x, last);
      context.lineTo(x, y);
    }
    last = y;
  }
  context.stroke();
}

/** Return what writes costs beside an axis, which has no room for large numbers. */
function markOf(format) {
  return (value) => (Math.abs(value) >= 1e6 ? formatMark(value) : format(value));
}
