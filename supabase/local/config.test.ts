import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";

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

describe("supabase config push", () => {
  test("sends mails to the site's own address and not to a developer's machine", () => {
    expect(auth.site_url).toBe("env(APP_ORIGIN)");
    expect(text).not.toMatch(/localhost|127\.0\.0\.1/);
  });

  test("leaves the project a mail server: switched off here, the push would take it away", () => {
    expect(auth.email.smtp).toMatchObject({ enabled: true, host: "env(SMTP_HOST)", pass: "env(SMTP_PASS)" });
  });

  test("keeps the limits of GoTrue, which sees one address for all clients, far above those of one client", () => {
    const { sign_in_sign_ups = 0, token_refresh = 0, token_verifications = 0 } = auth.rate_limit;
    expect(Math.min(sign_in_sign_ups, token_refresh, token_verifications)).toBeGreaterThanOrEqual(3000);
  });

  test("finds every variable it wants in the example to copy, and no secret in either", () => {
    const example = readFileSync(path.join(root, "supabase/.env.example"), "utf8");
    const wanted = [...text.matchAll(/env\((\w+)\)/g)].map(([, name]) => name);
    expect(wanted.length).toBeGreaterThan(0);
    for (const name of wanted) expect(example).toMatch(new RegExp(`^${name}=`, "m"));
    expect(example).toMatch(/^SMTP_PASS=$/m);
  });

  test("sends a mail of ours for everything auth can be asked for, and only the confirmation opens anything", () => {
    const mails = Object.entries(auth.email.template).map(([kind, { subject, content_path }]) => {
      const html = readFileSync(path.join(root, content_path), "utf8");
      expect(subject, kind).not.toBe("");
      const places = new Set([...html.matchAll(/\{\{ \.(\w+) \}\}/g)].map(([, name]) => name));
      expect(places, kind).toContain("SiteURL");
      expect(html, kind).toContain("{{ .SiteURL }}/additional-info#identity-check");
      return [kind, [...places].filter((name) => name !== "SiteURL" && name !== "Email")];
    });
    expect(Object.fromEntries(mails)).toEqual({
      confirmation: ["TokenHash"],
      recovery: [],
      magic_link: [],
      email_change: [],
      reauthentication: [],
      invite: [],
    });
  });

  test("lets nobody sign up or confirm by phone, nor change a password in a session of yesterday", () => {
    expect(auth.sms.enabled).toBe(false);
    expect(auth.mfa.phone.enroll_enabled).toBe(false);
    expect(auth.email.secure_password_change).toBe(true);
  });
});
