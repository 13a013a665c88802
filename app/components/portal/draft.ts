import { onSignOut } from "~/lib/browser/sign-out";

export type Draft = { person: string; values: Record<string, string> };

export const draftKeyPrefix = "draft:";

onSignOut(() => removeDraftsExcept(null));

export function removeDraftsExcept(person: string | null): void {
  try {
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith(draftKeyPrefix) && readDraft(key)?.person !== person) writeDraft(key, null);
    }
  } catch {}
}

export function readDraft(key: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") as Draft | null;
  } catch {
    return null;
  }
}

export function writeDraft(key: string, draft: Draft | null): void {
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft));
    else sessionStorage.removeItem(key);
  } catch {
    // If storage is blocked or full, the form works without drafts.
  }
}
