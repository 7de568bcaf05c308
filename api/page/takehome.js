/**
 * What a user takes home: the report, and the files that launchers, compilers and training frameworks read.
 *
 * @import { EmissionBody, FileBody } from "./types"
 * @import { AnyReport } from "./reports.js"
 */

import { download } from "./files.js";
import { formatBytes } from "./numbers.js";
import { ask, ProblemError, send } from "./service.js";
import { html, useEffect, useState } from "./vendor/preact.js";

/**
 * Show the files of a job.
 * @param {{id: string, report: AnyReport}} props
 */
export function Files({ id, report }) {
  const [files, setFiles] = useState(/** @type {FileBody[]} */ ([]));
  const [formats, setFormats] = useState(/** @type {EmissionBody[]} */ ([]));
  const [fault, setFault] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    const list = (/** @type {string} */ what, /** @type {(listed: any[]) => void} */ show) =>
      ask(`jobs/${id}/${what}`, { signal: stop.signal }).then(show, (error) => {
        if (!stop.signal.aborted && !(error instanceof ProblemError && error.status === 404)) setFault(error.message);
      });
    list("files", setFiles);
    list("emit", setFormats);
    return () => stop.abort();
  }, [id]);
  const keep = async (/** @type {string} */ path, /** @type {string} */ name, /** @type {string} */ type) => {
    try {
      setFault(null);
      download(name, type, await (await send(`jobs/${id}/${path}`)).blob());
    } catch (error) {
      setFault(error.message);
    }
  };
  const others = formats.filter(({ file }) => !files.some(({ name }) => name === file));
  const json = () => download(`tiger-${id.slice(0, 8)}.json`, "application/json", `${JSON.stringify(report, null, 1)}\n`);
  return html`<section class="card" aria-label="Files"><h2>Take home</h2>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    <ul class="files">
      <li><button class="plain" onClick=${json}>report.json</button> <span>the whole report, which <code>tiger explain</code> reads</span></li>
      ${files.map((file) => html`<li><button class="plain" onClick=${() => keep(`files/${encodeURIComponent(file.name)}`, file.name, file.media_type)}>${file.name}</button> <span>${file.description} <small>${formatBytes(file.bytes)}</small></span></li>`)}
    </ul>
    ${others.length > 0 && html`<h3>For others</h3>
      <p>Written when you ask for it, where this answer is one that the other takes.</p>
      <ul class="formats">${others.map(({ name, file, media_type }) => html`<li><button class="plain" onClick=${() => keep(`emit/${encodeURIComponent(name)}`, file, media_type)}>${name}</button></li>`)}</ul>`}</section>`;
}
