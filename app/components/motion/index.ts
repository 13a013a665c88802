import { useIdleImport } from "../ui/idle-import";

/** Returns the components of lazy.tsx, or null while they load or if loading fails. */
export function useMotion() {
  return useIdleImport(() => import("./lazy"));
}
