/**
 * A picture: a canvas that fits the width of its place, says in words what it shows, and can be kept as SVG or PNG.
 */

import { download } from "../files.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { paletteOf, PRINT } from "./colours.js";
import { SvgContext } from "./svg.js";
import { inTurn } from "./turn.js";

/** Dots of a saved picture a pixel of the page, which print sharply. */
const SAVED_SCALE = 2;
const SAVED_WIDTH = 900;
/** The width of the page's content and the margins of a picture, to guess the room of one before it is there. */
const WIDEST = 1180, MARGINS = 78;

/**
 * Show a picture.
 * @param {{name: string, title: string, caption: string, height: number | ((width: number) => number), draw: (context, frame) => void,
 *   tell?: (x: number, y: number, frame) => string | null}} props `draw` paints a frame {width, height, colours}, and
 *   `tell` says what lies at a point of it.
 */
export function Picture({ name, title, caption, height, draw, tell }) {
  const canvas = useRef(null);
  const [told, setTold] = useState(null);
  const [width, setWidth] = useState(() => Math.min(innerWidth, WIDEST) - MARGINS);
  const high = heightIn(height, width);
  useEffect(() => {
    const place = canvas.current.parentElement;
    const paint = () => {
      if (!canvas.current) return;
      setWidth(place.clientWidth);
      paintCanvas(canvas.current, place.clientWidth, heightIn(height, place.clientWidth), draw);
    };
    const repaint = () => inTurn(paint);
    const watcher = new ResizeObserver(repaint);
    watcher.observe(place);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", paint);
    document.addEventListener("themechange", paint);
    return () => {
      watcher.disconnect();
      dark.removeEventListener("change", paint);
      document.removeEventListener("themechange", paint);
    };
  }, [draw, height]);
  const point = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const frame = { width: box.width, height: high };
    setTold(tell?.(event.clientX - box.left, event.clientY - box.top, frame) ?? null);
  };
  return html`<figure class="picture">
    <figcaption><strong>${title}</strong> <span>${caption}</span></figcaption>
    <div class="canvas" style=${{ height: `${high}px` }}>
      <canvas ref=${canvas} role="img" aria-label=${`${title}. ${caption}`} onPointerMove=${tell && point} onPointerLeave=${() => setTold(null)}></canvas>
    </div>
    <${Keep} name=${name} title=${`${title}. ${caption}`} height=${height} draw=${draw} told=${told} />
  </figure>`;
}

/** Offer a picture as files, beside what lies under the pointer. */
export function Keep({ name, title, height, draw, told }) {
  const keepSvg = () => download(`${name}.svg`, "image/svg+xml", toSvg(draw, height, title));
  const keepPng = async () => download(`${name}.png`, "image/png", await toPng(draw, height));
  return html`<p class="keep">
    <span class="told" aria-live="off">${told}</span>
    <button type="button" class="plain" onClick=${keepSvg} aria-label=${`Save ${name} as SVG`}>SVG</button>
    <button type="button" class="plain" onClick=${keepPng} aria-label=${`Save ${name} as PNG`}>PNG</button>
  </p>`;
}

/** Paint a canvas of so many pixels of the page, sharply on any screen. */
export function paintCanvas(canvas, width, height, draw) {
  if (!width) return;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height);
  draw(context, { width, height, colours: paletteOf(canvas) });
}

/** Return a picture as SVG text. */
export function toSvg(draw, height, title) {
  const context = new SvgContext(SAVED_WIDTH, heightIn(height, SAVED_WIDTH));
  draw(context, { width: SAVED_WIDTH, height: context.height, colours: PRINT });
  return context.toText(title);
}

/** Return a picture as PNG. */
export function toPng(draw, height) {
  const canvas = document.createElement("canvas");
  const high = heightIn(height, SAVED_WIDTH);
  canvas.width = SAVED_WIDTH * SAVED_SCALE;
  canvas.height = high * SAVED_SCALE;
  const context = canvas.getContext("2d");
  context.scale(SAVED_SCALE, SAVED_SCALE);
  context.fillStyle = PRINT.paper;
  context.fillRect(0, 0, SAVED_WIDTH, high);
  draw(context, { width: SAVED_WIDTH, height: high, colours: PRINT });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function heightIn(height, width) {
  return typeof height === "number" ? height : height(width);
}
