import { useIdleImport } from "../ui/idle-import";

/** Returns the components of lazy.ts, or null until they are loaded and if loading fails. */
export function useMotion() {
  return useIdleImport(() => import("./lazy"));
}
