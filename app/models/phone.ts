type PhoneCountry = { code: string; name: string; callingCode: string; example: string };

export const PHONE_COUNTRIES = [
  { code: "KE", name: "Kenya", callingCode: "+254", example: "0722 123456" },
  { code: "UG", name: "Uganda", callingCode: "+256", example: "0772 123456" },
  { code: "TZ", name: "Tanzania", callingCode: "+255", example: "0754 123 456" },
  { code: "RW", name: "Rwanda", callingCode: "+250", example: "0788 123 456" },
  { code: "BI", name: "Burundi", callingCode: "+257", example: "79 12 34 56" },
  { code: "SS", name: "South Sudan", callingCode: "+211", example: "0912 345 678" },
  { code: "CD", name: "DR Congo", callingCode: "+243", example: "0812 345 678" },
] as const satisfies readonly PhoneCountry[];

export const otherCountry = "other";

export const PHONE_COUNTRY_LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PHONE_COUNTRIES.map(({ code, name, callingCode }) => [code, `${name} (${callingCode})`])),
  [otherCountry]: "Other: begin with +",
};

export const defaultPhoneCountry = "KE";

export function getPhoneCountry(phone: string | null): string {
  if (phone === null) return defaultPhoneCountry;
  return PHONE_COUNTRIES.find(({ callingCode }) => phone.startsWith(callingCode))?.code ?? otherCountry;
}
