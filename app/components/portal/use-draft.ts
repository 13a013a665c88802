import { useEffect } from "react";
import { draftKeyPrefix, readDraft, writeDraft } from "./draft";

/** Restores text that was typed before the session ended. Leaving the form for another page deletes the draft. */
export function useDraft(formId: string, person: string): void {
  useEffect(() => {
    const form = document.getElementById(formId);
    if (!(form instanceof HTMLFormElement) || !person) return;
    const key = draftKeyPrefix + formId;
    const formPath = location.pathname;
    const saved = readDraft(key);
    const draft = saved?.person === person ? saved.values : {};
    for (const field of getTextFields(form)) {
      const savedText = draft[field.name];
      if (savedText && field.value === field.defaultValue) field.value = savedText;
    }
    const save = () => {
      const values = Object.fromEntries(getTextFields(form).map(({ name, value }) => [name, value]));
      writeDraft(key, { person, values });
    };
    form.addEventListener("input", save);
    return () => {
      form.removeEventListener("input", save);
      const { pathname } = location;
      if (pathname !== formPath && !pathname.startsWith("/login")) writeDraft(key, null);
    };
  }, [formId, person]);
}

function getTextFields(form: HTMLFormElement): (HTMLInputElement | HTMLTextAreaElement)[] {
  return [...form.querySelectorAll<HTMLInputElement>("input[type=text], input[type=email], input[type=tel], textarea")];
}
