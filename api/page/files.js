/**
 * Files in and out: what is dropped or chosen is read as text, and what is kept goes to the browser's downloads.
 */

/** Characters of a file that is read, so that the browser stays quick; the service says itself what it takes. */
const LARGEST = 64e6;

/** Hand content to the browser as a file. */
export function download(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Read a file as text; throw RangeError for one that is no text or too large. */
export async function readFile(file) {
  if (file.size > LARGEST) throw new RangeError(`expected a file of at most ${LARGEST / 1e6} MB, got ${file.name}`);
  const text = new TextDecoder("utf-8", { fatal: true });
  try {
    return text.decode(await file.arrayBuffer());
  } catch {
    throw new RangeError(`expected a file of text (UTF-8), got ${file.name}`);
  }
}

/** Put text on the clipboard, and return whether the browser allowed it. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
