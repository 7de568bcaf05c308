/**
 * The page of the service: a form for new work, the list of jobs, one job, or several side by side, by the part of the
 * address after #.
 */

import { Compare } from "./compare.js";
import { Form } from "./form.js";
import { JobPage } from "./job.js";
import { JobList } from "./joblist.js";
import { KeyDialog } from "./key.js";
import { html, render, signal, useEffect } from "./vendor/preact.js";

const THEME = "tiger-theme";
/** @type {{theme?: string}} */
const shown = document.documentElement.dataset;
const address = signal(location.hash);

addEventListener("hashchange", () => {
  address.value = location.hash;
  document.getElementById("main")?.focus();
  scrollTo(0, 0);
});

function App() {
  const [path, query] = address.value.replace(/^#\/?/, "").split("?", 2);
  const [name, ...ids] = path.split("/").map(decode);
  return html`<${Header} at=${name} />
    <main id="main" tabindex="-1">${route(name, ids, new URLSearchParams(query))}</main>
    <${KeyDialog} />`;
}

/** Return a part of the address as text; one that is no text is left as it is. */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * @param {string} name
 * @param {string[]} ids
 * @param {URLSearchParams} query
 */
function route(name, ids, query) {
  if (name === "jobs" && ids.length) return html`<${JobPage} key=${ids[0]} id=${ids[0]} />`;
  if (name === "jobs") return html`<${JobList} key=${`${query}`} tags=${query.getAll("tag")} />`;
  if (name === "comparisons" && ids.length) return html`<${Compare} key=${ids[0]} id=${ids[0]} />`;
  return html`<${Form} />`;
}

function Header({ at }) {
  useEffect(() => {
    document.title = at === "jobs" ? "TIGER: jobs" : at === "comparisons" ? "TIGER: comparison" : "TIGER";
  }, [at]);
  const here = (name) => (at === name || (name === "" && !["jobs", "comparisons"].includes(at)) ? "page" : undefined);
  return html`<header>
    <a class="brand" href="#/"><img src="page/icon.svg" alt="" width="26" height="26" /> TIGER</a>
    <nav aria-label="Pages">
      <a href="#/" aria-current=${here("")}>New</a>
      <a href="#/jobs" aria-current=${here("jobs")}>Jobs</a>
      <a href="docs">REST</a>
    </nav>
    <button class="plain" onClick=${changeTheme} aria-label="Change between light and dark">◐</button>
  </header>`;
}

function changeTheme() {
  const dark = shown.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  shown.theme = dark === "dark" ? "light" : "dark";
  localStorage.setItem(THEME, shown.theme);
  document.dispatchEvent(new Event("themechange"));
}

const kept = localStorage.getItem(THEME);
if (kept === "dark" || kept === "light") shown.theme = kept;
document.getElementById("app").replaceChildren();
render(html`<${App} />`, document.getElementById("app"));
