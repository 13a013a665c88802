import { eastAfricaTime } from "~/lib/dates";
import { cachedFileQuery } from "./offline-pages";

export type OfflineCopy = { html: string; name: string; files: string[] };

const formsClosedText = "You can use this form when you are back online.";

const removedSelector =
  "script, style, dialog, template, link[rel=modulepreload], link[rel=manifest], [data-toast], [data-now], .toasts, .splash, .loading, .streaks";

/**
 * Returns a copy of the page with inert forms, without scripts and without typed text. `files` contains the URLs of the
 * stylesheets and drawings in the copy.
 */
export function createOfflineCopy(document: Document, now: Date): OfflineCopy {
  const copy = cloneDocument(document);
  const main = findMain(copy);
  explainClosedForms(copy, main);
  main.prepend(createCopyBanner(copy, now));
  const name = main.querySelector("h1")?.innerHTML ?? "";
  return { ...serializeCopy(copy), name };
}

/** Returns the page for URLs without an offline copy. The service worker replaces `<!--pages-->` with links. */
export function createOfflineFallback(document: Document, phone: string | undefined): OfflineCopy {
  const copy = cloneDocument(document);
  const call = phone
    ? `<p class="mb-6">Call the head office: <a class="inline-flex min-h-11 items-center underline" href="tel:${phone.replaceAll(" ", "")}">${phone}</a></p>`
    : "";
  for (const link of copy.querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
  copy.title = copy.title.replace(/^.*(?= · )/, "No connection");
  findMain(copy).innerHTML = `<h1 class="text-xl">No connection</h1>
<p class="mt-2 mb-6 max-w-prose">This page is not stored on this device. The page opens when you are back online.</p>
<p class="mb-6"><a href="" class="${buttonClasses}">Try again</a></p>
${call}
<section aria-labelledby="offline-pages" class="hidden has-[li]:block"><h2 id="offline-pages" class="text-lg">Pages stored on this device</h2>
<ul class="*:py-3 [&_a]:underline"><!--pages--></ul></section>`;
  return { ...serializeCopy(copy), name: "" };
}

const buttonClasses =
  "inline-flex min-h-11 shrink-0 items-center justify-center gap-2 rounded-label border py-2 text-center text-sm font-semibold no-underline px-4 bg-action text-on-action border-action";

function cloneDocument(document: Document): Document {
  // An HTML document without a window loads no files and runs no script.
  const copy = document.implementation.createHTMLDocument();
  copy.replaceChild(copy.importNode(document.documentElement, true), copy.documentElement);
  for (const element of copy.querySelectorAll(removedSelector)) element.remove();
  for (const element of copy.querySelectorAll("[inert]")) element.removeAttribute("inert");
  for (const element of copy.querySelectorAll("[style]")) element.removeAttribute("style");
  for (const element of copy.querySelectorAll("[data-moving]")) element.removeAttribute("data-moving");
  for (const element of copy.querySelectorAll("header details")) element.removeAttribute("open");
  // An offline copy has no scroll listener, so its header always has the background of a scrolled page.
  const bar = copy.querySelector("header");
  bar?.classList.replace("border-transparent", "border-line");
  bar?.classList.add("bg-surface");
  for (const field of copy.querySelectorAll("input")) field.removeAttribute("value");
  for (const field of copy.querySelectorAll("textarea")) field.textContent = "";
  for (const element of copy.querySelectorAll("form, button:not(form *)")) {
    element.setAttribute("inert", "");
    element.classList.add("opacity-60");
  }
  return copy;
}

function findMain(copy: Document): HTMLElement {
  return copy.querySelector("main") ?? copy.body;
}

function explainClosedForms(copy: Document, main: HTMLElement): void {
  const explainedSections = new Set<Element>();
  for (const form of main.querySelectorAll("form")) {
    const title = form.closest("section")?.querySelector(":scope > header, :scope > h2");
    if (title && explainedSections.has(title)) continue;
    if (title) explainedSections.add(title);
    const look = `text-sm text-quiet print:hidden ${title?.matches(".border-b") ? "px-4 pt-3" : "mt-2"}`;
    (title ?? form)[title ? "after" : "before"](createParagraph(copy, formsClosedText, look));
  }
}

/**
 * The service worker replaces the HTML comment with the time of the copy. From the next day on, the worker inserts the
 * date and the time.
 */
function createCopyBanner(copy: Document, now: Date): HTMLElement {
  const line = createParagraph(copy, "", "mb-8 border-l-4 border-attention pl-4");
  const iso = now.toISOString();
  const choice = `${iso}|${eastAfricaTime(iso).split(", ")[1]}|${eastAfricaTime(iso)}`;
  line.append("No connection. This copy of the page is from ", copy.createComment(choice), ".");
  line.setAttribute("role", "status");
  return line;
}

function createParagraph(copy: Document, words: string, className: string): HTMLElement {
  const line = copy.createElement("p");
  line.className = className;
  line.textContent = words;
  return line;
}

function serializeCopy(copy: Document): Pick<OfflineCopy, "html" | "files"> {
  const loaded = new Set(performance.getEntriesByType("resource").map(({ name }) => name.split("#")[0]));
  const files = new Set<string>();
  for (const element of copy.querySelectorAll("link[rel=stylesheet], use[href^='/']")) {
    const [address = "", part] = (element.getAttribute("href") ?? "").split("#");
    if (element.localName === "use" && !loaded.has(location.origin + address)) {
      element.remove();
      continue;
    }
    files.add(address);
    element.setAttribute("href", `${address}${cachedFileQuery}${part ? `#${part}` : ""}`);
    element.removeAttribute("media");
  }
  return { html: `<!DOCTYPE html>${copy.documentElement.outerHTML}`, files: [...files] };
}
