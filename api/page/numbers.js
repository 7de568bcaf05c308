/**
 * Numbers as text and back, alike in every locale of the browser: a point for decimals, a comma between thousands.
 */

/** @type {[number, string][]} */
const LARGE = [[1e12, " T"], [1e9, " G"], [1e6, " M"]];
const TIMES = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
/** A share below which there is only what rounding leaves of sums of times. */
const ROUNDING = 1e-12;
const SIZES = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];

/**
 * Return a number with at most so many significant digits, "–" where there is none.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function formatNumber(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return groupThousands(String(value));
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-4)) return value.toExponential(digits - 1);
  const text = String(Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size + 1))))));
  return groupThousands(text);
}

/** Return how many there are of what a word names. */
export function countOf(count, word) {
  return `${formatNumber(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** Return a number for the mark of an axis, short also where it is large, such as 330 M. */
export function formatMark(value) {
  const [factor, unit] = LARGE.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return `${formatNumber(value / factor, 4)}${unit}`;
}

/** Return a share as a percentage. */
export function formatShare(value) {
  if (value === null || value === undefined) return "–";
  return `${formatNumber(Math.abs(value) < ROUNDING ? 0 : 100 * value, 3)} %`;
}

/**
 * Return seconds in the unit that suits them.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function formatSeconds(value) {
  return formatUnit(value, TIMES);
}

/**
 * Return bytes in the unit that suits them.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function formatBytes(value) {
  return formatUnit(value, SIZES);
}

/**
 * Return the number that a text states, null for a blank one; throw RangeError for another text.
 * @param {string} text
 */
export function parseNumber(text) {
  const plain = text.trim();
  if (plain === "") return null;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) {
    throw new RangeError(`expected a number such as 2 or 0.5, got ${plain}`);
  }
  return Number(plain);
}

/**
 * Return the largest of numbers, however many, and at least 0.
 * @param {(number | null)[]} values
 * @returns {number}
 */
export function largest(values) {
  return values.reduce((most, value) => (value > most ? value : most), 0);
}

/**
 * Return round ticks from 0 to an end, about as many as wanted.
 * @param {number} end
 */
export function ticksTo(end, wanted = 5) {
  if (!(end > 0)) return [0];
  const rough = end / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((part) => part >= rough);
  const ticks = [];
  for (let at = 0; at <= end * (1 + 1e-9); at += step) ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

function formatUnit(value, units) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return `0 ${units.find(([factor]) => factor === 1)[1]}`;
  const [factor, unit] = units.find(([least]) => size >= least) ?? units[units.length - 1];
  return `${formatNumber(value / factor, 3)} ${unit}`;
}

function groupThousands(text) {
  const [whole, ...rest] = text.split(".");
  return [whole.replace(/\B(?=(\d{3})+(?!\d))/g, ","), ...rest].join(".");
}
