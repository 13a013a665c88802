import path from "node:path";
import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { type CustomAtRules, Features, type Visitor } from "lightningcss";
import { minify } from "terser";
import { defineConfig, type Plugin } from "vite";
import { manifestPlugin } from "./app/lib/build/manifest.ts";
import { mdxPlugin } from "./app/lib/build/mdx.ts";

/** For each chunk, lists the beginnings of its modules' paths in app/components. */
const pageGroups = {
  motion: ["motion/mov"],
  intents: ["forms/intent-form", "forms/described-fields", "ui/fact-list"],
  accounts: ["site/email-link-page", "forms/code-field", "forms/password-field", "site/auth-page"],
  secondFactor: ["portal/second-factor"],
  desk: ["desk/"],
  public: ["site/accordion-item", "site/marquee"],
  structuredData: ["site/structured-data"],
  certificates: ["site/certificates", "site/monogram"],
  prose: ["site/prose"],
  emailDraft: ["site/email-draft-panel"],
};
const inComponents = (beginnings: string[]) => `components/(${beginnings.join("|")})`;
/** For each chunk, matches the paths of its modules outside app/components. */
const groupModules: Record<string, string> = {
  motion: "node_modules/(framer-motion|motion-(dom|utils))/",
  desk: "app/models/(desk|shipment-filter)",
  public: "app/lib/http/page-meta",
};

/** A few large chunks compress better and need fewer round trips than many small chunks. */
const chunks = {
  groups: [
    {
      name: "framework",
      test: /node_modules\/(react|react-dom|react-router|scheduler|cookie|set-cookie-parser)\/|module-retry/,
    },
    {
      name: "site",
      test: new RegExp(
        `/app/(?!lib/http/page-meta|models/(desk|shipment-filter)|${inComponents(Object.values(pageGroups).flat())})(components|lib|models|actions|site-links)|node_modules/(@conform-to|lucide)/`,
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

/** The package.json of react-router exports only development files. Browsers must get the production files. */
const productionRouter: Plugin = {
  name: "production-router",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  resolveId: (id) => (routerFiles[id] ? path.join(routerFolder, routerFiles[id]) : null),
};

/** Omits Vite's preload helper of 600 bytes, because no dynamic import has styles or chunks to preload. */
const noPreloadHelper: Plugin = {
  name: "no-preload-helper",
  apply: "build",
  enforce: "pre",
  load: { filter: { id: /\0vite\/preload-helper/ }, handler: () => "export const __vitePreload = (load) => load();" },
};

/** Each file name is only a short hash, because every visitor downloads the route manifest with all names. */
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

/** Minifies each chunk a second time, which saves 900 bytes of a page's compressed script. */
const secondMinifier: Plugin = {
  name: "second-minifier",
  apply: "build",
  applyToEnvironment: ({ name }) => name === "client",
  async generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue;
      const { code } = await minify(chunk.code, { module: true, ecma: 2020, compress: { passes: 3 } });
      chunk.code = code ?? chunk.code;
    }
  },
};

/** Many phones in Kenya have Chrome 95 or an older version. */
const oldestBrowsers = ["chrome80", "safari13", "ios13", "firefox78"];

/** Removes `@property` rules and cascade layers for old browsers. Tailwind's fallback rules work without both. */
const dropPropertyRules: Visitor<CustomAtRules>["Rule"] = {
  property: () => [],
  "layer-statement": () => [],
  "layer-block": ({ value }) => value.rules.flatMap((rule) => (rule.type === "supports" ? rule.value.rules : rule)),
};

export default defineConfig({
  // Tailwind's own optimiser is off, because Lightning CSS compiles the CSS for the oldest browsers.
  plugins: [
    productionRouter,
    noPreloadHelper,
    shortNames,
    secondMinifier,
    mdxPlugin(),
    manifestPlugin(),
    tailwindcss({ optimize: false }),
    reactRouter(),
  ],
  css: {
    transformer: "lightningcss",
    lightningcss: {
      // The styles contain all necessary vendor prefixes. No style uses light-dark().
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
        rolldownOptions: {
          experimental: { lazyBarrel: true },
          // Removes react-router's warnings from the scripts, because only developers need the warnings.
          treeshake: { manualPureFunctions: ["warning", "warningOnce", "warnOnce"] },
          output: { codeSplitting: chunks },
        },
      },
    },
  },
});
