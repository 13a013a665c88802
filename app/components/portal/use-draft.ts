import { useEffect } from "react";
import { draftKeyPrefix, readDraft, writeDraft } from "./draft";

/**
 * Keeps the text fields of a form as they are typed in and fills them in again when the person comes back to it from
 * the login. The draft goes when the form is left for any other page: it was sent, or cancelled. Only for forms
 * without secrets; passwords and files are never kept.
 */
export function useDraft(formId: string, person: string): void {
  useEffect(() => {
    const form = document.getElementById(formId);
    if (!(form instanceof HTMLFormElement) || !person) return;
    const key = draftKeyPrefix + formId;
    const here = location.pathname;
    const kept = readDraft(key);
    const draft = kept?.person === person ? kept.values : {};
    for (const field of getTextFields(form)) {
      const typed = draft[field.name];
      if (typed && field.value === field.defaultValue) field.value = typed;
    }
    const keep = () => {
      const values = Object.fromEntries(getTextFields(form).map(({ name, value }) => [name, value]));
      writeDraft(key, { person, values });
    };
    form.addEventListener("input", keep);
    return () => {
      form.removeEventListener("input", keep);
      const { pathname } = location;
      if (pathname !== here && !pathname.startsWith("/login")) writeDraft(key, null);
    };
  }, [formId, person]);
}

function getTextFields(form: HTMLFormElement): (HTMLInputElement | HTMLTextAreaElement)[] {
  return [...form.querySelectorAll<HTMLInputElement>("input[type=text], input[type=email], input[type=tel], textarea")];
}
