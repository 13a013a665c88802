/** Drafts of portal forms, kept in sessionStorage if the session ends meanwhile: for this tab and this person only. */
import { atSignOut } from "~/lib/signed-out";

export type Draft = { person: string; values: Record<string, string> };

export const prefix = "draft:";

atSignOut(() => keepDraftsOf(null));

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

/** A kept draft, or null. */
export function read(key: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") as Draft | null;
  } catch {
    return null;
  }
}

/** Keeps a draft; null removes it. */
export function write(key: string, draft: Draft | null): void {
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft));
    else sessionStorage.removeItem(key);
  } catch {
    // Storage is switched off or full: the form works without drafts.
  }
}
