/**
 * What a user takes home: the report, and the files that launchers, compilers and training frameworks read.
 *
 * @import { FileBody } from "./types"
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
  const [fault, setFault] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    ask(`jobs/${id}/files`, { signal: stop.signal }).then(setFiles, (error) => {
      if (!stop.signal.aborted && !(error instanceof ProblemError && error.status === 404)) setFault(error.message);
    });
    return () => stop.abort();
  }, [id]);
  const keep = async (/** @type {FileBody} */ { name, media_type }) => {
    try {
      const response = await send(`jobs/${id}/files/${encodeURIComponent(name)}`);
      download(name, media_type, await response.blob());
    } catch (error) {
      setFault(error.message);
    }
  };
  const json = () => download(`tiger-${id.slice(0, 8)}.json`, "application/json", `${JSON.stringify(report, null, 1)}\n`);
  return html`<section class="card" aria-label="Files"><h2>Take home</h2>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    <ul class="files">
      <li><button class="plain" onClick=${json}>report.json</button> <span>the whole report, which <code>tiger explain</code> reads</span></li>
      ${files.map((file) => html`<li><button class="plain" onClick=${() => keep(file)}>${file.name}</button> <span>${file.description} <small>${formatBytes(file.bytes)}</small></span></li>`)}
    </ul></section>`;
}
