/**
 * The same request as a command elsewhere: curl, Python and the command line.
 *
 * @import { Form, Use } from "./schema.js"
 */

import { copyText, download } from "./files.js";
import { USES } from "./schema.js";
import { BASE, hasKey } from "./service.js";
import { html, useState } from "./vendor/preact.js";

/** Characters of a request that a command can show; a longer one is kept as a file beside it. */
const INLINE = 700;
const COMMANDS = { tasks: "assign", circuit: "layout", network: "place", plan: "plan" };
/** Options of the command line whose names differ from those of fields. */
const OPTIONS = { time_limit_s: "time-limit", pipeline: "pipeline-parallel", tensor: "tensor-parallel", data: "data-parallel" };

/**
 * Show the commands.
 * @param {{use: Use, form: Form, request: Record<string, unknown> | null}} props
 */
export function Commands({ use, form, request }) {
  if (!request) return null;
  const parts = partsOf(use, form, request);
  const files = parts.filter(({ content }) => content !== null);
  return html`<details class="card commands"><summary>The same from elsewhere</summary>
    <${Command} title="curl" text=${curl(use, request)} />
    ${JSON.stringify(request).length > INLINE && html`<p class="hint"><button type="button" class="plain" onClick=${() => download("request.json", "application/json", JSON.stringify(request))}>Save request.json</button> which it sends.</p>`}
    <${Command} title="Command line" text=${commandLine(use, parts, request)} />
    <${Command} title="Python" text=${python(use, parts, request)} />
    ${files.length > 0 && html`<p class="hint">The command line and Python read ${files.map(({ name, content }) => html`<button type="button" class="plain" onClick=${() => download(name, "text/plain", content)}>Save ${name}</button> `)}</p>`}
  </details>`;
}

function Command({ title, text }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => setCopied(await copyText(text));
  return html`<h3>${title} <button type="button" class="plain" onClick=${copy} aria-label=${`Copy the ${title} command`}>${copied ? "Copied" : "Copy"}</button></h3>
    <pre tabindex="0" aria-label=${title}><code>${text}</code></pre>`;
}

/**
 * @param {Use} use
 * @param {Record<string, unknown>} request
 */
function curl(use, request) {
  const body = JSON.stringify(request);
  const key = hasKey() ? " -H \"X-API-Key: $TIGER_API_KEY\"" : "";
  const content = body.length > INLINE ? "@request.json" : quote(body);
  return `curl -fsS ${quote(`${BASE}${USES[use].path}`)} -H 'Content-Type: application/json'${key} \\\n  -d ${content}`;
}

/**
 * @param {Use} use
 * @param {{name: string, content: string | null}[]} files
 * @param {Record<string, unknown>} request
 */
function commandLine(use, files, request) {
  const [source, hardware] = files;
  const parts = ["tiger", COMMANDS[use], quote(source.name)];
  if (hardware) parts.push(`--${use === "circuit" ? "coupling" : USES[use].hardware} ${quote(hardware.name)}`);
  for (const [name, value] of optionsOf(use, request)) {
    // The command line has no such option.
    if (name === "emit" && use === "tasks") continue;
    if (name === "pinned") parts.push(...Object.entries(value).map((pair) => `--pin ${quote(pair.join("="))}`));
    else parts.push(`--${OPTIONS[name] ?? name.replaceAll("_", "-")}${value === true ? "" : ` ${quote(String(value))}`}`);
  }
  return parts.join(" ");
}

function python(use, parts, request) {
  const given = parts.map(({ name }) => literal(name));
  for (const [name, value] of optionsOf(use, request)) given.push(`${name}=${literal(value)}`);
  return `import tiger\n\nreport = tiger.${COMMANDS[use]}(${given.join(", ")})\nreport.plot()`;
}

/**
 * @param {Use} use
 * @param {Record<string, unknown>} request
 */
function optionsOf(use, request) {
  const { source, hardware } = USES[use];
  return Object.entries(request).filter(([name]) => name !== source && name !== hardware);
}

/**
 * Return the source and the hardware of a request as SPECs or files: {name, content}, without content for a SPEC.
 * @param {Use} use
 * @param {Form} form
 * @param {Record<string, unknown>} request
 * @returns {{name: string, content: string | null}[]}
 */
function partsOf(use, form, request) {
  const { source, hardware } = USES[use];
  return [[source, form.source.label], [hardware, ""]].filter(([field]) => field in request).map(([field, label]) => partOf(request[field], field, label));
}

function partOf(value, field, label) {
  if (field === "circuit") return { name: /\.qasm3?$/i.test(label) ? label : "circuit.qasm", content: value };
  if (typeof value === "string") return { name: value, content: null };
  if ("file" in value) return { name: value.file, content: value.text };
  return { name: `${field}.json`, content: JSON.stringify(value) };
}

function quote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function literal(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, part]) => `${literal(name)}: ${literal(part)}`).join(", ")}}`;
}
