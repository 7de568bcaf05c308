/**
 * How penalties were tuned: their size in each round, and the share of reads that kept the rule there.
 *
 * @typedef {{penalty: number, penalty_scale: number, feasible_share: number, best_raw: number | null,
 *   best_repaired: number | null, best_polished: number | null}} Round
 */

import { AFTER, BEFORE } from "./colours.js";
import { drawBottomAxis, drawLeftAxis, drawLegend, MARGIN, plotArea } from "./axes.js";
import { formatShare } from "../numbers.js";

/** The shares of feasible reads that tuning aims at. */
const AIM = [0.25, 0.75];

/**
 * Return a function that draws rounds of {penalty_scale, feasible_share}.
 * @param {Round[]} rounds
 */
export function tuning(rounds) {
  const end = Math.max(1, ...rounds.map((round) => round.penalty_scale));
  return (context, frame) => {
    const area = plotArea(frame, rounds.length, end, { ...MARGIN, top: 40 });
    context.fillStyle = frame.colours.line;
    context.globalAlpha = 0.5;
    context.fillRect(area.left, area.y(AIM[1]), area.width, area.y(AIM[0]) - area.y(AIM[1]));
    context.globalAlpha = 1;
    drawLeftAxis(context, area, frame.colours, { end, name: "share", format: formatShare });
    const room = area.width / rounds.length;
    context.fillStyle = BEFORE;
    rounds.forEach((round, k) => {
      const y = area.y(round.feasible_share);
      context.fillRect(area.x(k) + 0.2 * room, y, 0.6 * room, area.top + area.height - y);
    });
    context.strokeStyle = context.fillStyle = AFTER;
    context.lineWidth = 2;
    context.beginPath();
    rounds.forEach((round, k) => (k ? context.lineTo : context.moveTo).call(context, area.x(k + 0.5), area.y(round.penalty_scale)));
    context.stroke();
    rounds.forEach((round, k) => {
      context.beginPath();
      context.arc(area.x(k + 0.5), area.y(round.penalty_scale), 3.5, 0, 2 * Math.PI);
      context.fill();
    });
    const step = Math.ceil(rounds.length / 20);
    drawBottomAxis(context, area, frame.colours, { ticks: rounds.map((_, k) => k).filter((k) => k % step === 0), at: (k) => area.x(k + 0.5), name: "round", format: (k) => String(k + 1) });
    drawLegend(context, [[AFTER, "penalty, of its safe bound"], [BEFORE, "feasible reads"], [frame.colours.line, "aim"]], area.left, 22, frame.colours, frame.width);
  };
}
