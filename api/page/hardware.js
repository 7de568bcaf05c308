/**
 * The hardware: a specification with completion, or a file, with a live picture.
 *
 * @import { TopologiesBody } from "./types"
 * @import { Part, Use } from "./schema.js"
 */

import { readFile } from "./files.js";
import { Preview } from "./preview.js";
import { USES } from "./schema.js";
import { ask } from "./service.js";
import { html, useEffect, useState } from "./vendor/preact.js";

const CLUSTERS = ["dgx:1", "dgx:2", "dgx:4"];
const WORDS = { tasks: "hardware", circuit: "device", network: "cluster", plan: "cluster" };
const HINTS = {
  tasks: "Such as torus:4x4x4 or fat-tree:8; or a file: JSON, Slurm topology.conf, lstopo XML, nvidia-smi topo -m ..",
  circuit: "Such as heavy-hex:3 or grid:5x5; or a file: JSON of couplings or of a target with error rates.",
  network: "Such as dgx:2; or a file: JSON of devices and links, nvidia-smi topo -m ..",
  plan: "Such as dgx:2; or a file: JSON of devices and links, nvidia-smi topo -m ..",
};

/**
 * Show the choice of the hardware.
 * @param {{use: Use, hardware: Part | null, onHardware: (part: Part) => void, fault: string | null}} props
 */
export function Hardware({ use, hardware, onHardware, fault }) {
  const text = typeof hardware?.value === "string" ? hardware.value : "";
  const [known, setKnown] = useState(CLUSTERS);
  const [wrong, setWrong] = useState(null);
  const clusters = use === "network" || use === "plan";
  useEffect(() => {
    if (!clusters) ask("topologies").then((/** @type {TopologiesBody} */ { topologies }) => setKnown(topologies.map(({ example }) => example)), () => {});
  }, [clusters]);
  const name = (event) => {
    const spec = event.target.value.trim();
    setWrong(null);
    onHardware(spec ? { label: spec, value: spec } : null);
  };
  const take = async (file) => {
    try {
      onHardware({ label: file.name, value: { file: file.name, text: await readFile(file) } });
      setWrong(null);
    } catch (error) {
      setWrong(error.message);
    }
  };
  const drop = (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  };
  return html`<section class="card" aria-label=${`The ${WORDS[use]}`} onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
    <h2>The ${WORDS[use]}</h2>
    <p class="row"><label>Specification <input type="text" list=${`known-${use}`} autocomplete="off" spellcheck=${false} value=${text} placeholder=${clusters ? "dgx:2" : "torus:4x4x4"} onInput=${name} /></label>
      <label class="file">or a file<input type="file" onChange=${(event) => event.target.files[0] && take(event.target.files[0])} /></label></p>
    <datalist id=${`known-${use}`}>${known.map((spec) => html`<option value=${spec}></option>`)}</datalist>
    <p class="hint">${HINTS[use]}</p>
    ${(fault ?? wrong) && html`<p class="fault">${fault ?? wrong}</p>`}
    ${hardware ? html`<p class="chosen">${hardware.label}</p><${Preview} name=${`the ${WORDS[use]}`} request=${{ [USES[use].hardware]: hardware.value }} />` : html`<div class="empty">Name hardware, or drop a file here</div>`}
  </section>`;
}
