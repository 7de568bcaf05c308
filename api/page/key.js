/**
 * The dialog that asks for an API key, which this tab alone keeps.
 */

import { keepKey, keyAsked } from "./service.js";
import { html, useEffect, useRef } from "./vendor/preact.js";

/** Show the dialog while the service wants a key. */
export function KeyDialog() {
  const dialog = useRef(null);
  const asked = keyAsked.value;
  useEffect(() => {
    if (asked && !dialog.current.open) dialog.current.showModal();
    if (!asked && dialog.current.open) dialog.current.close();
  }, [asked]);
  // All that wait by now go on, also what began to wait since the dialog was last drawn.
  const close = () => {
    const waiting = keyAsked.value;
    keyAsked.value = null;
    dialog.current.close();
    return waiting;
  };
  const give = (event) => {
    event.preventDefault();
    keepKey(String(new FormData(event.target).get("key")).trim());
    close()?.go();
  };
  const leave = () => close()?.leave();
  return html`<dialog ref=${dialog} aria-labelledby="key-title" onCancel=${leave}>
    <form method="dialog" onSubmit=${give}>
      <h2 id="key-title">API key</h2>
      <p>${asked?.wrong ? "The service does not know that key." : "This service answers those with a key."} This tab keeps it until it is closed, and sends it to this service alone.</p>
      <label>Key <input name="key" type="password" autocomplete="off" required minlength="16" /></label>
      <p class="actions"><button type="button" class="plain" onClick=${leave}>Leave</button> <button>Use it</button></p>
    </form>
  </dialog>`;
}
