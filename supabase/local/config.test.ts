import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";

const root = path.resolve(import.meta.dirname, "../..");
const text = readFileSync(path.join(root, "supabase/config.toml"), "utf8");
type EmailTemplate = { subject: string; content_path: string };
const { auth } = parse(text) as unknown as {
  auth: {
    site_url: string;
    rate_limit: Record<string, number>;
    email: { secure_password_change: boolean; smtp: Record<string, unknown>; template: Record<string, EmailTemplate> };
    sms: { enabled: boolean };
    mfa: { phone: { enroll_enabled: boolean } };
  };
};

describe("Supabase configuration", () => {
  test("The Supabase configuration reads the site's URL and SMTP server from variables, and contains no local address.", () => {
    expect(auth.site_url).toBe("env(APP_ORIGIN)");
    expect(text).not.toMatch(/localhost|127\.0\.0\.1/);
    expect(auth.email.smtp).toMatchObject({ enabled: true, host: "env(SMTP_HOST)", pass: "env(SMTP_PASS)" });
  });

  test("The rate limits of Supabase Auth allow for the requests of all clients, which all come from the IP address of the site.", () => {
    const { sign_in_sign_ups = 0, token_refresh = 0, token_verifications = 0 } = auth.rate_limit;
    expect(Math.min(sign_in_sign_ups, token_refresh, token_verifications)).toBeGreaterThanOrEqual(3000);
  });

  test("The example environment file contains every variable of config.toml and no secret.", () => {
    const example = readFileSync(path.join(root, "supabase/.env.example"), "utf8");
    const variables = [...text.matchAll(/env\((\w+)\)/g)].map(([, name]) => name);
    expect(variables.length).toBeGreaterThan(0);
    for (const name of variables) expect(example).toMatch(new RegExp(`^${name}=`, "m"));
    expect(example).toMatch(/^SMTP_PASS=$/m);
  });

  test("Every email template of Supabase Auth ends with our footer, and only the confirmation email contains a token.", () => {
    // Supabase Auth does not pass the company's name and phone number to its templates.
    const company = parseYaml(readFileSync(path.join(root, "content/data/company.yaml"), "utf8"));
    const identityCheck = "{{ .SiteURL }}/additional-info#identity-check";
    const footer = `<p>${company.name.replaceAll("&", "&amp;")}<br>
${company.offices[0].phone}<br>
We never send bank details by email. Check that this email is from us: <a href="${identityCheck}">${identityCheck}</a></p>`;
    const tokensByTemplate = Object.entries(auth.email.template).map(([kind, { subject, content_path }]) => {
      const html = readFileSync(path.join(root, content_path), "utf8");
      expect(subject, kind).not.toBe("");
      const placeholders = new Set([...html.matchAll(/\{\{ \.(\w+) \}\}/g)].map(([, name]) => name));
      expect(placeholders, kind).toContain("SiteURL");
      expect(html, kind).toMatch(/^<p>Hello,<\/p>\n/);
      expect(html, kind).toContain(footer);
      return [kind, [...placeholders].filter((name) => name !== "SiteURL" && name !== "Email")];
    });
    expect(Object.fromEntries(tokensByTemplate)).toEqual({
      confirmation: ["TokenHash"],
      recovery: [],
      magic_link: [],
      email_change: [],
      reauthentication: [],
      invite: [],
    });
  });

  test("Supabase Auth rejects a sign-up by phone, and a password change in a session that is older than one day.", () => {
    expect(auth.sms.enabled).toBe(false);
    expect(auth.mfa.phone.enroll_enabled).toBe(false);
    expect(auth.email.secure_password_change).toBe(true);
  });
});
