/** Each error message continues a sentence that starts with the variable's name. */
import { z } from "zod";
import { compileTrustedProxies } from "./ip-address.server.ts";

export const origin = z
  .url({ protocol: /^https?$/, error: "must be an http or https address", abort: true })
  .refine((value) => new URL(value).origin === value, "must be a scheme, a host and a port, without a path");
export const positiveInteger = (defaultValue: number, max = 1_000_000) =>
  z.preprocess(
    (value) => (value === "" || value === undefined ? String(defaultValue) : value),
    z
      .string()
      .refine((value) => /^\d{1,7}$/.test(value) && Number(value) >= 1 && Number(value) <= max, {
        error: `must be a whole number from 1 to ${max}`,
      })
      .transform(Number),
  );
export const ipAddresses = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter(Boolean))
  .refine(areIpAddresses, "must be IP addresses or ranges such as 10.0.0.0/8, separated by commas");
const mailboxPattern = /^(?:([^\r\n<>]*)<)?([^\s<>@]+@[^\s<>@]+?)>?$/;
export const mailbox = z
  .string()
  .regex(mailboxPattern, "must look like Name <name@example.com>")
  .transform((value) => {
    const [, name = "", address = ""] = mailboxPattern.exec(value) ?? [];
    return { name: name.trim().replace(/^"(.*)"$/, "$1"), address };
  });
export const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === "" ? undefined : value), schema.optional());

function areIpAddresses(list: string[]): boolean {
  try {
    compileTrustedProxies(list);
    return true;
  } catch {
    return false;
  }
}
