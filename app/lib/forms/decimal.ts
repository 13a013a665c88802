import { foldDigits } from "./text-fields.ts";

const shape = /^(-?)(?:(\d+)|([1-9]\d{0,2}([,.\s])\d{3}(?:\4\d{3})*))(?:(?!\4\d)([,.])(\d+))?$/;

/**
 * Returns the typed number, "" for an invalid text, or both meanings of an ambiguous text, such as "1250 or 1.25". The
 * text "1,250" is ambiguous if `decimals` is 3 or more. The text "1.250" is ambiguous if `decimals` is less than 3.
 */
export function readDecimal(input: string, decimals: number): number | string {
  const typed = foldDigits(input).replace("\u066b", ".").replaceAll("\u066c", ",").trim();
  const [, sign, plain, grouped, , mark, part = ""] = shape.exec(typed) ?? [];
  const whole = plain ?? grouped?.replace(/\D/g, "");
  if (!whole) return "";
  if (part.length === 3 && plain && /^[1-9]\d{0,2}$/.test(plain)) {
    if (mark === "," && decimals < 3) return Number(sign + plain + part);
    if (mark === "," || decimals < 3)
      return `${sign}${plain}${part} or ${Number(`${sign}${plain}.${part}`).toFixed(decimals)}`;
  }
  return part.length > decimals ? "" : Number(`${sign}${whole}.${part}`);
}
