import path from "node:path";
import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { type CustomAtRules, Features, type Visitor } from "lightningcss";
import { defineConfig, type Plugin } from "vite";
import { manifestPlugin } from "./app/lib/build/manifest.ts";
import { mdxPlugin } from "./app/lib/build/mdx.ts";

/** Components that only some pages need, in one file per kind of page: the beginnings of their paths in app/components. */
const pageGroups = {
  motion: ["motion/mov"],
  intents: ["forms/intent-form", "forms/described-fields"],
  accounts: ["site/email-link-page", "forms/code-field", "forms/password-field", "site/auth-page"],
  secondFactor: ["portal/second-factor"],
  desk: ["desk/"],
  public: ["site/structured-data", "site/accordion-item"],
  certificates: ["site/certificates", "site/monogram"],
  prose: ["site/prose"],
  emailDraft: ["site/email-draft-panel"],
};
const inComponents = (beginnings: string[]) => `components/(${beginnings.join("|")})`;
/** What belongs to a group from outside of app/components. */
const groupModules: Record<string, string> = {
  motion: "node_modules/(framer-motion|motion-(dom|utils))/",
  desk: "app/models/desk",
  public: "app/lib/http/page-meta",
};

/**
 * Few files compress better and cost fewer round trips than many: the framework, what all pages share, and each page. A file
 * includes what its modules import, unless an earlier file has it.
 */
const chunks = {
  groups: [
    {
      name: "framework",
      test: /node_modules\/(react|react-dom|react-router|scheduler|cookie|set-cookie-parser)\/|module-retry/,
    },
    {
      name: "site",
      test: new RegExp(
        `/app/(?!lib/http/page-meta|models/desk|${inComponents(Object.values(pageGroups).flat())})(components|lib|models|actions|site-links)|node_modules/(@conform-to|lucide)/`,
      ),
      minShareCount: 2,
    },
    ...Object.entries(pageGroups).map(([name, beginnings]) => ({
      name,
      test: new RegExp([inComponents(beginnings), groupModules[name]].filter(Boolean).join("|")),
      minShareCount: 2,
    })),
  ],
};

const routerFolder = path.resolve(import.meta.dirname, "node_modules/react-router/dist/production");
const routerFiles: Record<string, string> = { "react-router": "index.mjs", "react-router/dom": "dom-export.mjs" };

/** react-router exports only its development files. Browsers get its production files. */
const productionRouter: Plugin = {
  name: "production-router",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  resolveId: (id) => (routerFiles[id] ? path.join(routerFolder, routerFiles[id]) : null),
};

/** No module imported by script has styles or chunks of its own to preload, and Vite's preload helper is 600 bytes. */
const noPreloadHelper: Plugin = {
  name: "no-preload-helper",
  apply: "build",
  enforce: "pre",
  load: { filter: { id: /\0vite\/preload-helper/ }, handler: () => "export const __vitePreload = (load) => load();" },
};

/** The names of files stand in the manifest that every visitor gets, and in each other: a hash is enough. */
const shortNames: Plugin = {
  name: "short-names",
  apply: "build",
  applyToEnvironment: ({ name }) => name === "client",
  outputOptions: (options) => ({
    ...options,
    entryFileNames: "assets/[hash:7].js",
    chunkFileNames: ({ isDynamicEntry }) => `assets/${isDynamicEntry ? "[name]-" : ""}[hash:7].js`,
  }),
};

/** The oldest browsers that get the pages with their styles: many phones here stop at Chrome 95 or before. */
const oldestBrowsers = ["chrome80", "safari13", "ios13", "firefox78"];

/**
 * Tailwind registers its variables twice: by `@property`, and for browsers without it by first values for every element,
 * under a condition and in a layer. Those values do it alone, in every browser.
 */
const dropPropertyRules: Visitor<CustomAtRules>["Rule"] = {
  property: () => [],
  "layer-statement": () => [],
  "layer-block": ({ value }) => value.rules.flatMap((rule) => (rule.type === "supports" ? rule.value.rules : rule)),
};

export default defineConfig({
  // CSS is lowered once, for the oldest browsers: Tailwind's own pass, for newer ones, is off.
  plugins: [
    productionRouter,
    noPreloadHelper,
    shortNames,
    mdxPlugin(),
    manifestPlugin(),
    tailwindcss({ optimize: false }),
    reactRouter(),
  ],
  css: {
    transformer: "lightningcss",
    lightningcss: {
      // Prefixes that these browsers need are written by hand; nothing here uses light-dark().
      exclude: Features.VendorPrefixes | Features.LightDark,
      visitor: { Rule: dropPropertyRules },
    },
  },
  build: { cssTarget: oldestBrowsers },
  resolve: { alias: { "~": path.resolve(import.meta.dirname, "app") } },
  environments: {
    client: {
      build: {
        modulePreload: false,
        rolldownOptions: { experimental: { lazyBarrel: true }, output: { codeSplitting: chunks } },
      },
    },
  },
});
