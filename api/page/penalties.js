/**
 * The penalties of the QUBO path: how they were tuned, and what sampling, repair and polish each reached.
 *
 * @import { Stage } from "./types"
 * @import { Round } from "./draw/tuning.js"
 * @import { AnyReport } from "./reports.js"
 * @typedef {Stage & {rounds?: Round[], variables?: number, couplers?: number}} Tuned
 */

import { Picture } from "./draw/picture.js";
import { tuning } from "./draw/tuning.js";
import { formatNumber, formatShare } from "./numbers.js";
import { recordedStages } from "./reports.js";
import { html, useMemo } from "./vendor/preact.js";

/**
 * Show how penalties were tuned in a report, nothing where no QUBO was sampled as a whole.
 * @param {{report: AnyReport}} props
 */
export function Penalties({ report }) {
  const stage = recordedStages(report).find((/** @type {Tuned} */ each) => each.rounds?.length);
  return stage ? html`<${Tuning} stage=${stage} />` : null;
}

/** @param {{stage: Tuned}} props */
function Tuning({ stage }) {
  const { rounds } = stage;
  const draw = useMemo(() => tuning(rounds), [stage]);
  const best = (name) => rounds.reduce((least, round) => (round[name] === null || round[name] >= least ? least : round[name]), Infinity);
  const caption = `Penalties fell to ${formatShare(Math.min(...rounds.map((round) => round.penalty_scale)))} of their safe bound. The best read costs ${formatNumber(best("best_raw"), 6)}, repaired ${formatNumber(best("best_repaired"), 6)}, polished ${formatNumber(best("best_polished"), 6)}.`;
  return html`<section class="card" aria-label="Penalties"><h2>How penalties were tuned</h2>
    <${Picture} name="penalties" title=${`${formatNumber(stage.variables)} variables, ${formatNumber(stage.couplers)} couplers`} caption=${caption} height=${230} draw=${draw} />
    <details><summary>Every round</summary><div class="wide" tabindex="0" role="region" aria-label="Rounds"><table>
      <thead><tr><th scope="col">round</th><th scope="col" class="number">penalty</th><th scope="col" class="number">of its bound</th><th scope="col" class="number">feasible reads</th><th scope="col" class="number">raw</th><th scope="col" class="number">repaired</th><th scope="col" class="number">polished</th></tr></thead>
      <tbody>${rounds.map((round, k) => html`<tr><th scope="row">${k + 1}</th><td class="number">${formatNumber(round.penalty)}</td><td class="number">${formatShare(round.penalty_scale)}</td><td class="number">${formatShare(round.feasible_share)}</td><td class="number">${formatNumber(round.best_raw, 6)}</td><td class="number">${formatNumber(round.best_repaired, 6)}</td><td class="number">${formatNumber(round.best_polished, 6)}</td></tr>`)}</tbody>
    </table></div></details></section>`;
}
