/**
 * Axes of charts: a plot area with round ticks, units and names.
 */

import { ticksTo } from "../numbers.js";

/** Pixels between the border of a picture and its plot. */
export const MARGIN = { left: 64, right: 16, top: 14, bottom: 40 };

/** Return the plot area of a frame, and the functions from values to its pixels. */
export function plotArea({ width, height }, endX, endY, margin = MARGIN) {
  const area = { left: margin.left, top: margin.top, width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
  area.x = (value) => area.left + (area.width * value) / (endX || 1);
  area.y = (value) => area.top + area.height * (1 - value / (endY || 1));
  return area;
}

/** Draw the vertical axis of an area from 0 to an end, with lines across. */
export function drawLeftAxis(context, area, colours, { end, name, format }) {
  context.font = "12px sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.lineWidth = 1;
  for (const tick of ticksTo(end, 4)) {
    const y = area.y(tick);
    drawLine(context, [area.left, y, area.left + area.width, y], colours.line);
    context.fillStyle = colours.faint;
    context.fillText(format(tick), area.left - 6, y);
  }
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillStyle = colours.faint;
  context.fillText(name, 2, 0);
}

/** Draw the horizontal axis of an area at ticks, and name it. */
export function drawBottomAxis(context, area, colours, { ticks, at, name, format }) {
  const y = area.top + area.height;
  drawLine(context, [area.left, y, area.left + area.width, y], colours.faint);
  context.font = "12px sans-serif";
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillStyle = colours.faint;
  for (const tick of ticks) context.fillText(format(tick), at(tick), y + 5);
  context.fillText(name, area.left + area.width / 2, y + 22);
}

/** Draw a line [x, y, x, y]. */
export function drawLine(context, [x, y, toX, toY], colour) {
  context.strokeStyle = colour;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(toX, toY);
  context.stroke();
}

/** Draw a legend of [colour, text] from a point on, one beside the other, and in a second row beyond a width. */
export function drawLegend(context, entries, x, y, colours, width = Infinity) {
  context.font = "12px sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  let at = x, row = y;
  for (const [colour, text] of entries) {
    const wide = 16 + context.measureText(text).width + 18;
    if (at + wide - 18 > width && at > x) [at, row] = [x, row + 16];
    context.fillStyle = colour;
    context.fillRect(at, row - 5, 11, 10);
    context.fillStyle = colours.ink;
    context.fillText(text, at + 16, row);
    at += wide;
  }
}
