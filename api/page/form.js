/**
 * The form for new work: what is mapped, onto what, how, and the same as a command elsewhere.
 *
 * @import { JobBody } from "./types"
 * @import { Example, Field, Form as Stated, Use } from "./schema.js"
 */

import { Commands } from "./commands.js";
import { Fields } from "./fields.js";
import { Hardware } from "./hardware.js";
import { ask, ProblemError } from "./service.js";
import { examplesOf, readValue, fieldsOf, USES } from "./schema.js";
import { guessUse, Source } from "./source.js";
import { readFile } from "./files.js";
import { batch, html, signal, useEffect, useState } from "./vendor/preact.js";

const REQUEST = "tiger-request-";
/** Characters of a request that the tab keeps, to show it beside its job. */
const KEPT = 1_000_000;

const use = signal(/** @type {Use} */ ("tasks"));
/**
 * What each use states so far: {label, value} of source and hardware, texts of fields, and what examples state besides.
 * @type {Record<string, {value: Stated}>}
 */
const stated = Object.fromEntries(Object.keys(USES).map((name) => [name, signal({ source: null, hardware: null, texts: {} })]));

/**
 * Return the request of a job that this tab has sent, null for another.
 * @param {string} id
 * @returns {{use: Use, label?: string, request: Record<string, any>} | null}
 */
export function keptRequest(id) {
  const kept = sessionStorage.getItem(REQUEST + id);
  return kept === null ? null : JSON.parse(kept);
}

/** Show the form. */
export function Form() {
  const [fields, setFields] = useState(/** @type {Field[]} */ ([]));
  const [examples, setExamples] = useState(/** @type {Example[]} */ ([]));
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const name = use.value, form = stated[name].value;
  const others = Object.keys(form.others ?? {});
  const lacking = whatLacks(name, form);
  const change = (part) => {
    setProblem(null);
    stated[name].value = { ...stated[name].value, ...part };
  };
  useEffect(() => {
    let gone = false;
    Promise.all([fieldsOf(name), examplesOf(name)]).then(
      ([found, worked]) => !gone && (setFields(found), setExamples(worked)),
      (error) => !gone && setProblem(error),
    );
    return () => { gone = true; };
  }, [name]);
  const run = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await submit(name, form, makeRequest(name, form, fields));
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  const drop = async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) await takeFile(file, setProblem);
  };
  return html`<form class="new" onSubmit=${run} noValidate onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
    <h1>Map work onto hardware</h1>
    <p class="lead">Drop a file anywhere, or begin with an example. What you see is computed by this service; nothing leaves it.</p>
    <div class="uses" role="group" aria-label="What is to be mapped">
      ${Object.entries(USES).map(([key, { title }]) => html`<button type="button" class="tab" aria-pressed=${key === name} onClick=${() => { setProblem(null); use.value = /** @type {Use} */ (key); }}>${title}</button>`)}
    </div>
    <div class="columns">
      <${Source} key=${`s${name}`} use=${name} source=${form.source} examples=${examples} onFile=${(file) => takeFile(file, setProblem, name)}
        onSource=${(source) => change({ source, others: undefined })} onExample=${(example) => change(fromExample(name, example))} fault=${faultAt(problem, USES[name].source)} />
      <${Hardware} key=${`h${name}`} use=${name} hardware=${form.hardware} onHardware=${(hardware) => change({ hardware })} fault=${faultAt(problem, USES[name].hardware)} />
    </div>
    <${Fields} fields=${fields} shown=${USES[name].shown} texts=${form.texts} problem=${problem} onChange=${(texts) => change({ texts })} />
    ${others.length > 0 && html`<p class="hint">With ${others.map((each) => html`<code>${each} ${JSON.stringify(form.others[each])}</code> `)} of the example. <button type="button" class="plain" onClick=${() => change({ others: undefined })}>Leave it out</button></p>`}
    ${problem && html`<${Fault} error=${problem} />`}
    <p class="actions"><button class="main" disabled=${busy || lacking !== null}>${busy ? "Sending .." : "Run"}</button>
      ${lacking !== null && html`<span class="hint">${lacking}</span>`}</p>
    ${lacking === null && html`<${Commands} use=${name} form=${form} request=${tryRequest(name, form, fields)} />`}
  </form>`;
}

/**
 * Show what is wrong, with the fields at fault.
 * @param {{error: Error}} props
 */
export function Fault({ error }) {
  const fields = error instanceof ProblemError ? error.fields : [];
  return html`<div class="fault" role="alert"><strong>${error.message}</strong>
    ${fields.length > 1 && html`<ul>${fields.map(([field, reason]) => html`<li><code>${field}</code>: ${reason}</li>`)}</ul>`}</div>`;
}

/**
 * Return what is to be stated before a form can be sent, null for nothing.
 * @param {Use} name
 * @param {Stated} form
 */
function whatLacks(name, { source, hardware }) {
  if (!source) return "Choose what to map first.";
  // Operators may state their devices, and a QAPLIB file has its distances.
  if (hardware || name === "network" || (name === "tasks" && /\.dat$/i.test(source.value.file ?? ""))) return null;
  return "Name what to map it onto, too.";
}

async function takeFile(file, setProblem, wanted) {
  try {
    const text = await readFile(file);
    const name = wanted ?? guessUse(file.name, text, use.value);
    batch(() => {
      use.value = name;
      const value = name === "circuit" ? text : { file: file.name, text };
      stated[name].value = { ...stated[name].value, source: { label: file.name, value }, others: undefined };
    });
    setProblem(null);
  } catch (error) {
    setProblem(error);
  }
}

/**
 * @param {Use} name
 * @param {Example} example
 * @returns {Stated}
 */
function fromExample(name, { title, request }) {
  const { source, hardware } = USES[name];
  const { [source]: work, [hardware]: where, ...rest } = request;
  const texts = Object.fromEntries(Object.entries(rest).filter(([, value]) => typeof value !== "object").map(([key, value]) => [key, String(value)]));
  const rich = Object.entries(rest).filter(([, value]) => typeof value === "object");
  return { source: { label: title, value: work }, hardware: where === undefined ? null : { label: typeof where === "string" ? where : title, value: where }, texts, others: rich.length ? Object.fromEntries(rich) : undefined };
}

/**
 * @param {Use} name
 * @param {Stated} form
 * @param {Field[]} fields
 */
function makeRequest(name, form, fields) {
  const { source, hardware } = USES[name];
  const request = { [source]: form.source.value, ...form.others };
  if (form.hardware) request[hardware] = form.hardware.value;
  for (const field of fields) {
    try {
      const value = readValue(field, form.texts[field.name] ?? "");
      if (value !== undefined) request[field.name] = value;
    } catch (error) {
      throw new ProblemError(422, { detail: `#/${field.name}: ${error.message}`, errors: [{ pointer: `#/${field.name}`, detail: error.message }] });
    }
  }
  return request;
}

/**
 * @param {Use} name
 * @param {Stated} form
 * @param {Field[]} fields
 */
function tryRequest(name, form, fields) {
  try {
    return makeRequest(name, form, fields);
  } catch {
    return null;
  }
}

async function submit(name, form, request) {
  const job = await ask(USES[name].path, { method: "POST", body: request, headers: { Prefer: "respond-async" } });
  const kept = JSON.stringify({ use: name, label: form.source.label, request });
  if (kept.length <= KEPT) sessionStorage.setItem(REQUEST + job.id, kept);
  location.hash = `#/jobs/${job.id}`;
}

/**
 * @param {Error | null} error
 * @param {string} field
 */
function faultAt(error, field) {
  if (!(error instanceof ProblemError)) return null;
  return error.fields.find(([at]) => at === field || at.startsWith(`${field}/`))?.[1] ?? null;
}
