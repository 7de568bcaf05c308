/**
 * What requests may state, as the OpenAPI document of the service says: fields, their types, and worked examples.
 *
 * @import { AssignRequest, CircuitRequest, PlaceRequest, PlanRequest } from "./types"
 * @typedef {"tasks" | "circuit" | "network" | "plan"} Use
 * @typedef {{label?: string, value: any, pasted?: string}} Part What a source or hardware is called, what a request
 *   states of it, and the text that was pasted.
 * @typedef {{source: Part | null, hardware: Part | null, texts?: Record<string, string>,
 *   others?: Record<string, unknown>}} Form
 * @typedef {{name: string, description: string, choices: string[], type: string, initial: any}} Field
 * @typedef {{title: string, request: Record<string, any>}} Example
 */

import { ask } from "./service.js";
import { parseNumber } from "./numbers.js";

/**
 * @template {object} R
 * @typedef {{title: string, path: "assign" | "place" | "plan", source: keyof R & string, hardware: keyof R & string,
 *   shown: (keyof R & string)[]}} Asked
 */

/**
 * The kinds of work, by what a request states and where it is sent.
 * @type {{tasks: Asked<AssignRequest>, circuit: Asked<CircuitRequest>, network: Asked<PlaceRequest>,
 *   plan: Asked<PlanRequest>}}
 */
export const USES = {
  tasks: { title: "Tasks", path: "assign", source: "tasks", hardware: "topology", shown: ["rule", "solver", "objective", "seed", "effort", "time_limit_s"] },
  circuit: { title: "Circuit", path: "assign", source: "circuit", hardware: "topology", shown: ["level", "objective", "seed", "effort", "time_limit_s"] },
  network: { title: "Network", path: "place", source: "model", hardware: "cluster", shown: ["mode", "schedule", "microbatches", "virtual", "pipeline", "tensor", "data", "seed", "time_limit_s"] },
  plan: { title: "Training plan", path: "plan", source: "model", hardware: "cluster", shown: ["batch", "pipeline", "tensor", "data", "schedule", "top", "seed"] },
};

let document_ = null;

/**
 * Return the fields of a use that a form can have: {name, description, choices, type, initial}.
 * @param {Use} use
 * @returns {Promise<Field[]>}
 */
export async function fieldsOf(use) {
  const properties = (await requestSchema(use)).properties;
  const { source, hardware } = USES[use];
  return Object.entries(properties)
    .filter(([name]) => name !== source && name !== hardware)
    .map(([name, stated]) => readField(name, stated))
    .filter((field) => field !== null);
}

/**
 * Return the worked examples of a use, as {title, request}.
 * @param {Use} use
 * @returns {Promise<Example[]>}
 */
export async function examplesOf(use) {
  const { path, source } = USES[use];
  const body = (await load()).paths[`/${path}`]?.post.requestBody.content["application/json"];
  return Object.values(body?.examples ?? {})
    .filter(({ value }) => source in value)
    .map(({ summary, value }) => ({ title: summary, request: value }));
}

/**
 * Return the value that the text of a field states, undefined for nothing; throw RangeError.
 * @param {Field} field
 * @param {string} text
 */
export function readValue(field, text) {
  if (field.type === "boolean") return text === "true" ? true : undefined;
  if (text.trim() === "") return undefined;
  if (field.type !== "number" && field.type !== "integer") return text.trim();
  const number = parseNumber(text);
  if (field.type === "integer" && !Number.isInteger(number)) throw new RangeError(`expected a whole number, got ${text.trim()}`);
  return number;
}

async function load() {
  document_ ??= ask("openapi.json");
  try {
    return await document_;
  } catch (error) {
    document_ = null;
    throw error;
  }
}

/** @param {Use} use */
async function requestSchema(use) {
  const document = await load();
  const { path, source } = USES[use];
  const schema = resolve(document, document.paths[`/${path}`].post.requestBody.content["application/json"].schema);
  const members = (schema.oneOf ?? schema.anyOf ?? [schema]).map((member) => resolve(document, member));
  return members.find((member) => source in member.properties);
}

function resolve(document, schema) {
  return schema.$ref ? schema.$ref.split("/").slice(1).reduce((part, name) => part[name], document) : schema;
}

function readField(name, stated) {
  const kinds = (stated.anyOf ?? [stated]).filter((kind) => kind.type !== "null");
  const choices = kinds.flatMap((kind) => kind.enum ?? (kind.const === undefined ? [] : [kind.const]));
  const type = choices.length ? "choice" : kinds[0]?.type;
  if (kinds.length > 1 && !choices.length) return null;
  if (!["choice", "number", "integer", "string", "boolean"].includes(type)) return null;
  return { name, description: stated.description ?? "", choices, type, initial: stated.default ?? null };
}
