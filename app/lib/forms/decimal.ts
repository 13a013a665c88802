const shape = /^(-?)(?:(\d+)|([1-9]\d{0,2}([,.\s])\d{3}(?:\4\d{3})*))(?:(?!\4\d)([,.])(\d+))?$/;

/**
 * Returns the typed number. Returns the two readings, such as "1250 or 1.25", if the text is ambiguous, and "" if the text
 * is no number. Commas, points or spaces separate groups of exactly three digits. Any other comma or point is the decimal
 * mark, with at most `decimals` digits. A single mark before three digits fits both rules: "1,250" is 1250, but ambiguous
 * if the number can have three decimals. "1.250" is 1.25 if the number can have three decimals, and ambiguous otherwise.
 */
export function readDecimal(input: string, decimals: number): number | string {
  const [, sign, plain, grouped, , mark, part = ""] = shape.exec(input.trim().replace("−", "-")) ?? [];
  const whole = plain ?? grouped?.replace(/\D/g, "");
  if (!whole) return "";
  if (part.length === 3 && plain && /^[1-9]\d{0,2}$/.test(plain)) {
    if (mark === "," && decimals < 3) return Number(sign + plain + part);
    if (mark === "," || decimals < 3) return `${plain}${part} or ${Number(`${plain}.${part}`).toFixed(decimals)}`;
  }
  return part.length > decimals ? "" : Number(`${sign}${whole}.${part}`);
}
