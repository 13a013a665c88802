import { generateKeyPairSync } from "node:crypto";

/** Keys for a backend under test. Each test process has a different `signingKey`. */
export const backendKeys = {
  publishableKey: "sb_publishable_for_tests_only",
  secretKey: "sb_secret_for_tests_only",
  jwtSecret: "a secret of tests, at least thirty-two bytes long",
  signingKey: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }),
};

/** Options of a backend under test, without the options for the data directory and for emails. */
export const backendOptions = {
  siteUrl: "http://127.0.0.1:3000",
  emailFrom: { name: "The company", address: "office@company.example" },
  ...backendKeys,
  seed: false,
};
