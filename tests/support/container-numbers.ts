import { getCheckDigit } from "../../app/models/container-number.ts";

/** Returns a valid container number with the serial number `serial`, which can have up to six digits. */
export function createContainerNumber(serial: number): string {
  const beginning = `MSKU${String(serial).padStart(6, "0")}`;
  return beginning + getCheckDigit(beginning);
}
