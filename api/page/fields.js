/**
 * The other fields of a request, by what the OpenAPI document says of each.
 *
 * @import { Field as Stated } from "./schema.js"
 */

import { ProblemError } from "./service.js";
import { html } from "./vendor/preact.js";

/**
 * Show the fields that are used most, and the others folded away.
 * @param {{fields: Stated[], shown: string[], texts: Record<string, string>, problem: Error | null,
 *   onChange: (texts: Record<string, string>) => void}} props
 */
export function Fields({ fields, shown, texts, problem, onChange }) {
  const wrong = new Map(problem instanceof ProblemError ? problem.fields : []);
  const show = (field) => html`<${Field} key=${field.name} field=${field} text=${texts[field.name] ?? ""} fault=${wrong.get(field.name)}
    onText=${(text) => onChange({ ...texts, [field.name]: text })} />`;
  const common = shown.map((name) => fields.find((field) => field.name === name)).filter(Boolean);
  const rare = fields.filter((field) => !shown.includes(field.name));
  return html`<section class="card fields" aria-label="How">
    <h2>How</h2>
    <div class="grid">${common.map(show)}</div>
    ${rare.length > 0 && html`<details><summary>More options</summary><div class="grid">${rare.map(show)}</div></details>`}
  </section>`;
}

/** @param {{field: Stated, text: string, fault: string | undefined, onText: (text: string) => void}} props */
function Field({ field, text, fault, onText }) {
  const id = `field-${field.name}`;
  const label = field.name.replace(/_s$/, "").replaceAll("_", " ");
  const described = { id, "aria-describedby": `${id}-about`, "aria-invalid": fault ? "true" : undefined };
  const initial = field.initial === null ? "chosen for you" : String(field.initial);
  const input =
    field.type === "boolean" || field.type === "choice"
      ? html`<select ...${described} value=${text} onChange=${(event) => onText(event.target.value)}><option value="">${field.type === "boolean" ? "no" : initial}</option>
          ${(field.type === "boolean" ? ["true"] : field.choices).filter((choice) => choice !== field.initial).map((choice) => html`<option value=${choice}>${choice === "true" ? "yes" : choice}</option>`)}</select>`
      : html`<input ...${described} type="text" inputmode=${field.type === "string" ? undefined : "decimal"} autocomplete="off" spellcheck=${false} value=${text} placeholder=${initial} onInput=${(event) => onText(event.target.value)} />`;
  return html`<div class="field"><label for=${id}>${label}</label>${input}<p class="about" id=${`${id}-about`}>${fault ? html`<span class="fault">${fault}</span>` : field.description}</p></div>`;
}
