/**
 * SVG by the calls of a canvas: the subset of CanvasRenderingContext2D that the pictures use.
 */

export class SvgContext {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.globalAlpha = 1;
    this.font = "12px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    this.path = "";
    this.dash = "";
    this.parts = [];
    this.rects = null;
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${round(x)} ${round(y)}`;
  }

  closePath() {
    this.path += "Z";
  }

  /** Add a whole circle, the only arc that pictures have. */
  arc(x, y, radius) {
    const r = round(radius);
    this.path += `M${round(x - radius)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }

  setLineDash(lengths) {
    this.dash = lengths.join(" ");
  }

  fill() {
    this.add(`<path d="${this.path}" fill="${this.fillStyle}"${this.opacity()}/>`);
  }

  stroke() {
    const dash = this.dash ? ` stroke-dasharray="${this.dash}"` : "";
    this.add(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${dash}${this.opacity()}/>`);
  }

  /** Fill a rectangle; those of one colour that follow each other are one element. */
  fillRect(x, y, width, height) {
    const key = `${this.fillStyle} ${this.globalAlpha}`;
    if (this.rects?.key !== key) {
      this.flush();
      this.rects = { key, fill: this.fillStyle, opacity: this.opacity(), path: [] };
    }
    this.rects.path.push(`M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`);
  }

  strokeRect(x, y, width, height) {
    this.path = `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
    this.stroke();
  }

  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const shift = { alphabetic: 0, middle: 0.35, top: 0.8, bottom: -0.2 }[this.textBaseline];
    const [, size] = /([\d.]+)px/.exec(this.font);
    const weight = this.font.startsWith("600") ? ' font-weight="600"' : "";
    this.add(
      `<text x="${round(x)}" y="${round(y + shift * Number(size))}" font-size="${size}"${weight} text-anchor="${anchor}" fill="${this.fillStyle}">${escape(text)}</text>`,
    );
  }

  /** Return the width of a text, about, as there is nothing here that measures it. */
  measureText(text) {
    const [, size] = /([\d.]+)px/.exec(this.font);
    return { width: 0.56 * Number(size) * text.length };
  }

  /** Return the picture as a document, which says in words what it shows. */
  toText(title) {
    this.flush();
    const frame = `viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${frame} role="img" font-family="sans-serif"><title>${escape(title)}</title>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  add(part) {
    this.flush();
    this.parts.push(part);
  }

  flush() {
    if (!this.rects) return;
    this.parts.push(`<path d="${this.rects.path.join("")}" fill="${this.rects.fill}"${this.rects.opacity}/>`);
    this.rects = null;
  }

  opacity() {
    return this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`;
  }
}

function round(value) {
  return Math.round(value * 100) / 100;
}

function escape(text) {
  return String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
}
