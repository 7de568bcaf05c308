/**
 * The REST service that sent this page: requests with the key, problems as errors, and jobs as streams.
 *
 * @import { JobBody, ProblemBody } from "./types"
 * @typedef {ProblemBody & {errors?: {pointer: string, detail: string}[]}} Problem
 */

import { signal } from "./vendor/preact.js";

const KEY = "tiger-key";
/** Where the service is, whatever prefix a proxy puts before it. */
export const BASE = new URL(".", location.href.split("#")[0]).href;
/** The function that goes on once a key has been given, null while none is asked for. */
export const keyAsked = signal(null);

/** A refusal of the service: its problem document. */
export class ProblemError extends Error {
  /**
   * @param {number} status
   * @param {Partial<Problem>} document
   */
  constructor(status, document) {
    super(plain(document.detail) ?? document.title ?? `The service answered ${status}.`);
    this.status = status;
    this.document = document;
  }

  /**
   * The fields at fault and what is expected of each, as [field, reason].
   * @returns {[string, string][]}
   */
  get fields() {
    return (this.document.errors ?? []).map(({ pointer, detail }) => [pointer.replace(/^#?\//, ""), detail]);
  }
}

/** Keep a key for this tab alone, or forget it. */
export function keepKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

/** Return whether this tab has a key. */
export function hasKey() {
  return sessionStorage.getItem(KEY) !== null;
}

/**
 * Send a request and return its response; a key is asked for where the service wants one.
 * @param {string} path relative to the service, such as "jobs"
 * @param {{method?: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal}} options
 */
export async function send(path, { method = "GET", body, headers = {}, signal: stop } = {}) {
  const sent = { ...headers };
  const key = sessionStorage.getItem(KEY);
  if (key) sent["X-API-Key"] = key;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  const content = body === undefined ? undefined : JSON.stringify(body);
  const response = await fetchOrExplain(new URL(path, BASE), { method, headers: sent, body: content, signal: stop });
  if (response.status === 401) {
    // A refusal of the key before is no reason to ask for the one given since.
    if (sessionStorage.getItem(KEY) === key) await askForKey(key !== null);
    return send(path, { method, body, headers, signal: stop });
  }
  if (!response.ok) throw new ProblemError(response.status, await readProblem(response));
  return response;
}

/**
 * Send a request and return what JSON it is answered with.
 * @param {string} path
 * @param {Parameters<typeof send>[1]} [options]
 * @returns {Promise<any>} of the type that types.d.ts has for the operation
 */
export async function ask(path, options) {
  return (await send(path, options)).json();
}

/**
 * Follow a job to its end: call `show` with every state of it, and return the last one with its report.
 * A stream that breaks off is opened again, as the job goes on without it; `lost` hears why it broke off.
 */
export async function followJob(id, { show, lost }, stop) {
  for (let pause_ms = 500; ; pause_ms = Math.min(2 * pause_ms, 8000)) {
    try {
      const response = await send(`jobs/${id}/events`, { signal: stop });
      for await (const [name, job] of readEvents(response.body)) {
        pause_ms = 500;
        show(job);
        if (name === "done") return job;
      }
      const job = await ask(`jobs/${id}`, { signal: stop });
      show(job);
      if (hasEnded(job)) return job;
    } catch (error) {
      if (stop?.aborted || !isPassing(error)) throw error;
      lost(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
  }
}

/** Return whether a fault may be gone when the same is asked again: a stream that broke off, a service that is away or busy. */
export function isPassing(error) {
  return !(error instanceof ProblemError) || error.status === 0 || error.status === 429 || error.status >= 500;
}

/** Return whether nothing more will happen to a job. */
export function hasEnded(job) {
  return ["done", "failed", "cancelled"].includes(job.status);
}

/** Return the detail of a problem for people: a field by its name instead of its pointer. */
function plain(detail) {
  return detail?.replace(/^#\/([^:\s]+): /, (_, pointer) => `${pointer.replaceAll("/", " ")}: `);
}

async function fetchOrExplain(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ProblemError(0, { detail: "The service cannot be reached. Is it still running?" });
  }
}

async function readProblem(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

function askForKey(wrong) {
  return new Promise((resolve, reject) => {
    const before = keyAsked.value;
    keyAsked.value = {
      wrong,
      go() {
        before?.go();
        resolve();
      },
      leave() {
        before?.leave();
        reject(new ProblemError(401, { detail: "The service wants an API key." }));
      },
    };
  });
}

/**
 * @param {ReadableStream} stream
 * @returns {AsyncGenerator<[string, JobBody]>}
 */
async function* readEvents(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split(/\r?\n\r?\n/);
    text = blocks.pop();
    for (const block of blocks) {
      const lines = block.split(/\r?\n/);
      const name = lines.find((line) => line.startsWith("event:"))?.slice(6).trim();
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
      if (name) yield [name, JSON.parse(data)];
    }
  }
}
