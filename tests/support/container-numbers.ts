import { getCheckDigit } from "../../app/models/container-number.ts";

/** Returns a valid container number with this serial number, which can have up to six digits. */
export function createContainerNumber(serial: number): string {
  const beginning = `MSKU${String(serial).padStart(6, "0")}`;
  return beginning + getCheckDigit(beginning);
}
