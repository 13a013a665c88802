/** Drafts of portal forms, kept in sessionStorage if the session ends meanwhile: for this tab and this person only. */
import { onSignOut } from "~/lib/browser/sign-out";

export type Draft = { person: string; values: Record<string, string> };

export const draftKeyPrefix = "draft:";

onSignOut(() => removeDraftsExcept(null));

/** Removes the drafts of all other people; with null, all drafts. */
export function removeDraftsExcept(person: string | null): void {
  try {
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith(draftKeyPrefix) && readDraft(key)?.person !== person) writeDraft(key, null);
    }
  } catch {
    // Without storage there is nothing to remove.
  }
}

/** A kept draft, or null. */
export function readDraft(key: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") as Draft | null;
  } catch {
    return null;
  }
}

/** Keeps a draft; null removes it. */
export function writeDraft(key: string, draft: Draft | null): void {
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft));
    else sessionStorage.removeItem(key);
  } catch {
    // Storage is switched off or full: the form works without drafts.
  }
}
