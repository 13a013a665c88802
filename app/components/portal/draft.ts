/** Drafts of portal forms, kept in sessionStorage if the session ends meanwhile: for this tab and this person only. */
import { useEffect } from "react";
import { atSignOut } from "~/lib/signed-out";

type Draft = { person: string; values: Record<string, string> };

const prefix = "draft:";

atSignOut(() => keepDraftsOf(null));

/**
 * Keeps the text fields of a form as they are typed in and fills them in again when the person comes back to it from
 * the login. The draft goes when the form is left for any other page: it was sent, or cancelled. Only for forms
 * without secrets; passwords and files are never kept.
 */
export function useDraft(formId: string, person: string): void {
  useEffect(() => {
    const form = document.getElementById(formId);
    if (!(form instanceof HTMLFormElement) || !person) return;
    const key = prefix + formId;
    const here = location.pathname;
    const kept = read(key);
    const draft = kept?.person === person ? kept.values : {};
    for (const field of textFieldsOf(form)) {
      const typed = draft[field.name];
      if (typed && field.value === field.defaultValue) field.value = typed;
    }
    const keep = () => {
      const values = Object.fromEntries(textFieldsOf(form).map(({ name, value }) => [name, value]));
      write(key, { person, values });
    };
    form.addEventListener("input", keep);
    return () => {
      form.removeEventListener("input", keep);
      const { pathname } = location;
      if (pathname !== here && !pathname.startsWith("/login")) write(key, null);
    };
  }, [formId, person]);
}

/** Removes the drafts of all other people; with null, all drafts. */
export function keepDraftsOf(person: string | null): void {
  try {
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith(prefix) && read(key)?.person !== person) write(key, null);
    }
  } catch {
    // Without storage there is nothing to remove.
  }
}

function textFieldsOf(form: HTMLFormElement): (HTMLInputElement | HTMLTextAreaElement)[] {
  return [...form.querySelectorAll<HTMLInputElement>("input[type=text], input[type=email], input[type=tel], textarea")];
}

function read(key: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") as Draft | null;
  } catch {
    return null;
  }
}

function write(key: string, draft: Draft | null): void {
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft));
    else sessionStorage.removeItem(key);
  } catch {
    // Storage is switched off or full: the form works without drafts.
  }
}
