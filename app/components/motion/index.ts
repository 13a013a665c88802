import { useIdleImport } from "../ui/idle-import";

/** Returns the components of lazy.tsx, or null until the module has loaded. */
export function useMotion() {
  return useIdleImport(() => import("./lazy"));
}
