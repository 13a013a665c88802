import path from "node:path";
import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { type CustomAtRules, Features, type Visitor } from "lightningcss";
import { defineConfig, type Plugin } from "vite";
import { manifest } from "./app/lib/manifest.build.ts";
import { mdx } from "./app/lib/mdx.build.ts";

/** Parts that some pages alone need, in a file for each kind of page, by the beginning of their path in app/components. */
const apart = {
  // What moves is told and moved by one library, fetched when the browser is idle.
  motion: ["motion/mov"],
  // Pages with several forms: the desk's, and a client's account.
  acts: ["act-form"],
  // How an account is opened: no page of a shipment asks for it.
  secrets: ["mail-link-page", "code-field", "password-field", "door"],
  factors: ["portal/two-factor"],
  // Nothing of the desk is in the script of visitors and clients.
  desk: ["desk"],
  // What search engines read, and what folds: public pages alone.
  public: ["site/structured-data", "site/fold"],
  certificates: ["site/certificates", "site/monogram"],
  prose: ["site/prose"],
  // A mail that was prepared: pages with such a form.
  mail: ["site/mail-ready.tsx"],
};
const partsOf = (names: string[]) => `components/(${names.join("|")})`;
const alsoApart: Record<string, string> = {
  motion: "node_modules/(framer-motion|motion-(dom|utils))/",
  desk: "app/models/desk",
  public: "app/lib/seo",
};

/**
 * Few files compress better and cost fewer round trips than many: the framework, what pages share, and each page. A file
 * takes in what its modules import, unless a file before it has that.
 */
const chunks = {
  groups: [
    {
      name: "framework",
      test: /node_modules\/(react|react-dom|react-router|scheduler|cookie|set-cookie-parser)\/|load-again/,
    },
    {
      name: "site",
      test: new RegExp(
        `/app/(?!lib/seo|models/desk|${partsOf(Object.values(apart).flat())})(components|lib|models)/|node_modules/(@conform-to|lucide)/`,
      ),
      minShareCount: 2,
    },
    ...Object.entries(apart).map(([name, parts]) => ({
      name,
      test: new RegExp([partsOf(parts), alsoApart[name]].filter(Boolean).join("|")),
      minShareCount: 2,
    })),
  ],
};

const router = path.resolve(import.meta.dirname, "node_modules/react-router/dist/production");
const routerFiles: Record<string, string> = { "react-router": "index.mjs", "react-router/dom": "dom-export.mjs" };

/** react-router exports only its development files. Browsers get its production files. */
const productionRouter: Plugin = {
  name: "production-router",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  resolveId: (id) => (routerFiles[id] ? path.join(router, routerFiles[id]) : null),
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
const oldest = ["chrome80", "safari13", "ios13", "firefox78"];

/**
 * Tailwind registers its variables twice: by `@property`, and for browsers without it by first values for every element,
 * under a condition and in a layer. Those values do it alone, in every browser.
 */
const registeredOnce: Visitor<CustomAtRules>["Rule"] = {
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
    mdx(),
    manifest(),
    tailwindcss({ optimize: false }),
    reactRouter(),
  ],
  css: {
    transformer: "lightningcss",
    lightningcss: {
      // Prefixes that these browsers need are written by hand; nothing here uses light-dark().
      exclude: Features.VendorPrefixes | Features.LightDark,
      visitor: { Rule: registeredOnce },
    },
  },
  build: { cssTarget: oldest },
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
