import htm from "htm";
import { h } from "preact";

export { render } from "preact";
export { useEffect, useMemo, useRef, useState } from "preact/hooks";
export { batch, signal } from "@preact/signals";
export const html = htm.bind(h);
