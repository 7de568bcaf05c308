/**
 * What is to be mapped: a file, a text, a pattern or an example, with a picture of what the service makes of it.
 *
 * @import { Example, Part, Use } from "./schema.js"
 */

import { Preview } from "./preview.js";
import { USES } from "./schema.js";
import { html } from "./vendor/preact.js";

const KINDS = {
  tasks: { what: "task graph", files: ".json .graph .hgr .mtx .csv .graphml .dat .ram .prof .grf .xml .log .mpiP", hint: "A file, or a pattern such as halo:16x16, ring:64, alltoall:32." },
  circuit: { what: "circuit", files: ".qasm", hint: "OpenQASM 2 or 3." },
  network: { what: "network", files: ".json .txt", hint: "A file of layers or operators, or a transformer such as transformer:layers=24,hidden=1024,heads=16." },
  plan: { what: "network", files: ".json", hint: "A file of layers, or a transformer such as transformer:layers=24,hidden=1024,heads=16." },
};
const SPEC = /^[A-Za-z][A-Za-z0-9-]*:[^\s{]*$/;

/**
 * Return the use that a file is for: that of its ending and content, else the present one.
 * @param {string} name
 * @param {string} text
 * @param {Use} present
 * @returns {Use}
 */
export function guessUse(name, text, present) {
  if (/\.qasm3?$/i.test(name) || /^\s*(\/\/.*\n\s*)*OPENQASM/.test(text)) return "circuit";
  if (/"(layers|operators|transformer)"\s*:/.test(text.slice(0, 4000))) return present === "plan" ? "plan" : "network";
  if (present !== "circuit") return present;
  return "tasks";
}

/**
 * Show the choice of a source.
 * @param {{use: Use, source: Part | null, examples: Example[], onFile: (file: File) => void,
 *   onSource: (part: Part | null) => void, onExample: (example: Example) => void, fault: string | null}} props
 */
export function Source({ use, source, examples, onFile, onSource, onExample, fault }) {
  const take = ({ target: { value: text } }) => onSource(text.trim() ? { ...readText(use, text), pasted: text } : null);
  const { what, files, hint } = KINDS[use];
  return html`<section class="card" aria-label=${`The ${what}`}>
    <h2>The ${what}</h2>
    <p class="row"><label class="file">Choose a file<input type="file" accept=${use === "circuit" ? ".qasm,.qasm3,.txt" : undefined} onChange=${(event) => event.target.files[0] && onFile(event.target.files[0])} /></label>
      <label>or an example <select value="" onChange=${(event) => event.target.value && onExample(examples[Number(event.target.value)])}>
        <option value="">..</option>${examples.map(({ title }, k) => html`<option value=${String(k)}>${title}</option>`)}</select></label></p>
    <label>or paste it <textarea rows="2" spellcheck=${false} value=${source?.pasted ?? ""} placeholder=${hint} onInput=${take}></textarea></label>
    <p class="hint">${files.split(" ").length > 1 ? `Files: ${files}` : hint}</p>
    ${fault && html`<p class="fault">${fault}</p>`}
    ${source ? html`<p class="chosen">${source.label}</p><${Preview} name=${`the ${what}`} request=${{ [USES[use].source]: source.value }} />` : html`<div class="empty">Drop a file here</div>`}
  </section>`;
}

/**
 * @param {Use} use
 * @param {string} text
 * @returns {Part}
 */
function readText(use, text) {
  const plain = text.trim();
  if (use === "circuit") return { label: "pasted circuit", value: plain };
  if (SPEC.test(plain)) return { label: plain, value: plain };
  const file = `pasted${endingOf(plain)}`;
  return { label: `pasted, read as ${endingOf(plain)}`, value: { file, text: `${plain}\n` } };
}

/** Return the ending of the format that a text is in, as far as its beginning tells. */
function endingOf(text) {
  if (/^[[{]/.test(text)) return ".json";
  if (text.startsWith("%%MatrixMarket")) return ".mtx";
  if (text.startsWith("<")) return text.includes("<graphml") ? ".graphml" : ".xml";
  return text.split("\n", 1)[0].includes(",") ? ".csv" : ".graph";
}
