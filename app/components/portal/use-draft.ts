import { useEffect } from "react";
import { claimTab } from "~/lib/browser/account";

type Draft = Record<string, string>;

/**
 * Restores text typed into the form before the session ended. Opening any page except the login page deletes the text.
 */
export function useDraft(formId: string, accountHash: string): void {
  useEffect(() => {
    const form = document.getElementById(formId);
    if (!(form instanceof HTMLFormElement) || !accountHash) return;
    claimTab(accountHash);
    const key = `draft:${formId}`;
    const formPath = location.pathname;
    const draft = readDraft(key);
    for (const field of getTextFields(form)) {
      const savedText = draft[field.name];
      if (savedText && field.value === field.defaultValue) field.value = savedText;
    }
    const save = () => {
      writeDraft(key, Object.fromEntries(getTextFields(form).map(({ name, value }) => [name, value])));
    };
    form.addEventListener("input", save);
    return () => {
      form.removeEventListener("input", save);
      const { pathname } = location;
      if (pathname !== formPath && !pathname.startsWith("/login")) writeDraft(key, null);
    };
  }, [formId, accountHash]);
}

function getTextFields(form: HTMLFormElement): (HTMLInputElement | HTMLTextAreaElement)[] {
  return [...form.querySelectorAll<HTMLInputElement>("input[type=text], input[type=email], input[type=tel], textarea")];
}

function readDraft(key: string): Draft {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? "null") as Draft | null) ?? {};
  } catch {
    return {};
  }
}

function writeDraft(key: string, draft: Draft | null): void {
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft));
    else sessionStorage.removeItem(key);
  } catch {
    // If storage is blocked or full, the form works without a draft.
  }
}
