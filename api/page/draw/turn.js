/**
 * Work that takes long, one piece after the other in the order of the page, with the browser free in between.
 */

let last = Promise.resolve();

/** Do work after all that was handed in before, once the browser has painted and answered. */
export function inTurn(work) {
  last = last.then(() => new Promise((resolve) => setTimeout(resolve))).then(work);
}
