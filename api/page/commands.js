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
const OPTIONS = { time_limit_s: "time-limit", microbatch_size: "microbatch-size" };
const PLAN = { pipeline: "pipeline-parallel", tensor: "tensor-parallel", data: "data-parallel" };

/**
 * Show the commands.
 * @param {{use: Use, form: Form, request: Record<string, unknown> | null}} props
 */
export function Commands({ use, form, request }) {
  if (!request) return null;
  return html`<details class="card commands"><summary>The same from elsewhere</summary>
    <${Command} title="curl" text=${curl(use, request)} />
    ${JSON.stringify(request).length > INLINE && html`<p class="hint"><button type="button" class="plain" onClick=${() => download("request.json", "application/json", JSON.stringify(request))}>Save request.json</button> which it sends.</p>`}
    <${Command} title="Command line" text=${commandLine(use, form, request)} />
    <${Command} title="Python" text=${python(use, form, request)} />
    ${[form.source, form.hardware].some((part) => part && fileOf(part.value) === null) && html`<p class="hint">The command line and Python read files: save the part that was stated inside the request as the file that is named here.</p>`}
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
 * @param {Form} form
 * @param {Record<string, unknown>} request
 */
function commandLine(use, form, request) {
  const { source, hardware } = USES[use];
  const where = use === "circuit" ? "coupling" : hardware;
  const parts = ["tiger", COMMANDS[use], quote(nameOf(request[source], `${source}.json`, use))];
  if (hardware in request) parts.push(`--${where} ${quote(nameOf(request[hardware], `${hardware}.json`, use))}`);
  for (const [name, value] of optionsOf(use, request)) {
    const option = (use === "plan" && PLAN[name]) || (OPTIONS[name] ?? name.replaceAll("_", "-"));
    parts.push(value === true ? `--${option}` : `--${option} ${quote(String(value))}`);
  }
  return parts.join(" ");
}

/**
 * @param {Use} use
 * @param {Form} form
 * @param {Record<string, unknown>} request
 */
function python(use, form, request) {
  const { source, hardware } = USES[use];
  const given = [literal(nameOf(request[source], `${source}.json`, use))];
  if (hardware in request) given.push(literal(nameOf(request[hardware], `${hardware}.json`, use)));
  for (const [name, value] of optionsOf(use, request)) given.push(`${name}=${literal(value)}`);
  return `import tiger\n\nreport = tiger.${COMMANDS[use]}(${given.join(", ")})\nreport.plot()`;
}

/**
 * @param {Use} use
 * @param {Record<string, unknown>} request
 */
function optionsOf(use, request) {
  const { source, hardware } = USES[use];
  return Object.entries(request).filter(([name, value]) => name !== source && name !== hardware && typeof value !== "object" && !(name === "emit" && use === "tasks"));
}

/** Return the name of the file that a part of a request was read from, the text of a SPEC, null for neither. */
function fileOf(value) {
  if (value && typeof value === "object" && "file" in value) return value.file;
  return typeof value === "string" && !/\s/.test(value) ? value : null;
}

function nameOf(value, otherwise, use) {
  return fileOf(value) ?? (use === "circuit" && typeof value === "string" ? "circuit.qasm" : otherwise);
}

function quote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function literal(value) {
  if (value === true) return "True";
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
