import { useIdleImport } from "../ui/idle-import";

/** Returns the components of lazy.ts, or null while they load or if loading fails. */
export function useMotion() {
  return useIdleImport(() => import("./lazy"));
}
