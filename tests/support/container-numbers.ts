import { getCheckDigit } from "../../app/models/container-number.ts";

/** Returns the valid container number with a serial number of up to six digits. */
export function createContainerNumber(serial: number): string {
  const beginning = `MSKU${String(serial).padStart(6, "0")}`;
  return beginning + getCheckDigit(beginning);
}
