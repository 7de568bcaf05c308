/**
 * The other fields of a request, by what the OpenAPI document says of each.
 *
 * @import { Field as Stated } from "./schema.js"
 */

import { ask, ProblemError } from "./service.js";
import { html, useEffect, useState } from "./vendor/preact.js";

/** What fields of text are completed to, besides the solvers that the service lists. */
const KNOWN = { mode: ["chain", "dag"] };

/**
 * Show the fields that are used most, and the others folded away.
 * @param {{fields: Stated[], shown: string[], texts: Record<string, string>, problem: Error | null,
 *   onChange: (texts: Record<string, string>) => void}} props
 */
export function Fields({ fields, shown, texts, problem, onChange }) {
  const [solvers, setSolvers] = useState([]);
  useEffect(() => {
    ask("solvers").then((found) => setSolvers(found.solvers.map(({ name }) => name)), () => {});
  }, []);
  const wrong = new Map(problem instanceof ProblemError ? problem.fields : []);
  const show = (field) => html`<${Field} key=${field.name} field=${field} known=${field.name === "solver" ? solvers : KNOWN[field.name] ?? []} text=${texts[field.name] ?? ""} fault=${wrong.get(field.name)}
    onText=${(text) => onChange({ ...texts, [field.name]: text })} />`;
  const common = shown.map((name) => fields.find((field) => field.name === name)).filter(Boolean);
  const rare = fields.filter((field) => !shown.includes(field.name));
  return html`<section class="card fields" aria-label="How">
    <h2>How</h2>
    <div class="grid">${common.map(show)}</div>
    ${rare.length > 0 && html`<details><summary>More options</summary><div class="grid">${rare.map(show)}</div></details>`}
  </section>`;
}

function Field({ field, known, text, fault, onText }) {
  const id = `field-${field.name}`;
  const label = field.name.replace(/_s$/, "").replaceAll("_", " ");
  const described = { id, "aria-describedby": `${id}-about`, "aria-invalid": fault ? "true" : undefined };
  const initial = field.initial === null ? "chosen for you" : String(field.initial);
  const input =
    field.type === "boolean" || field.type === "choice"
      ? html`<select ...${described} value=${text} onChange=${(event) => onText(event.target.value)}><option value="">${field.type === "boolean" ? "no" : initial}</option>
          ${(field.type === "boolean" ? ["true"] : field.choices).filter((choice) => choice !== field.initial).map((choice) => html`<option value=${choice}>${choice === "true" ? "yes" : choice}</option>`)}</select>`
      : html`<input ...${described} type="text" inputmode=${field.type === "string" ? undefined : "decimal"} list=${known.length ? `${id}-known` : undefined} autocomplete="off" spellcheck=${false} value=${text} placeholder=${initial} onInput=${(event) => onText(event.target.value)} />
          ${known.length > 0 && html`<datalist id=${`${id}-known`}>${known.map((each) => html`<option value=${each}></option>`)}</datalist>`}`;
  return html`<div class="field"><label for=${id}>${label}</label>${input}<p class="about" id=${`${id}-about`}>${fault ? html`<span class="fault">${fault}</span>` : field.description.split("`").map((part, k) => (k % 2 ? html`<code>${part}</code>` : part))}</p></div>`;
}
