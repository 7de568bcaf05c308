/**
 * Colour scales that people with any colour vision can read: viridis for amounts, Okabe and Ito's eight for kinds.
 */

// Viridis (Smith and van der Walt 2015) at sixteenths of its range.
const VIRIDIS = [
  [68, 1, 84], [72, 26, 108], [71, 47, 125], [65, 68, 135], [57, 86, 140], [49, 104, 142], [42, 120, 142], [35, 136, 142],
  [31, 152, 139], [34, 168, 132], [53, 183, 121], [84, 197, 104], [122, 209, 81], [165, 219, 54], [210, 226, 27], [235, 229, 26],
  [253, 231, 37],
];
/** Colours of kinds (Okabe and Ito 2008), the darker ones first. */
export const KINDS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a"];
/** Shades of places; graphs are drawn faster where many dots look alike. */
const PLACES = 63;
/** The colour of what carries nothing, such as switches and free qubits. */
export const IDLE = "#8a94a0";
/** The colour of the simple order and that of the mapping found. */
export const BEFORE = "#d55e00", AFTER = "#0072b2";

/** Return the colour of a share from 0 to 1. */
export function amount(share) {
  const at = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const mixed = VIRIDIS[low].map((part, k) => Math.round(part + (at - low) * (VIRIDIS[low + 1][k] - part)));
  return `rgb(${mixed.join(",")})`;
}

/** Return the colour of a share of traffic or load: the more, the further from the paper. */
export function intensity(share, { dark }) {
  return amount(dark ? 0.15 + 0.85 * share : 0.95 * (1 - share));
}

/** Return the colours of places in order, which differ from light and from dark paper. */
export function placeColour(share) {
  return amount(0.08 + (0.84 * Math.round(share * PLACES)) / PLACES);
}

/** Return the colours of a picture on the page as it is shown now, light or dark. */
export function paletteOf(element) {
  const style = getComputedStyle(element);
  const colour = (name) => style.getPropertyValue(name).trim();
  return { ink: colour("--ink"), faint: colour("--faint"), line: colour("--line"), paper: colour("--paper"), dark: style.colorScheme === "dark" };
}

/** Return the colours of a picture on white paper. */
export const PRINT = { ink: "#16202a", faint: "#5b6773", line: "#c9d1d8", paper: "#ffffff", dark: false };
