import path from "node:path";
import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig, type Plugin } from "vite";
import { manifest } from "./app/lib/manifest.build.ts";
import { mdx } from "./app/lib/mdx.build.ts";

/** Few files compress better and cost fewer round trips than many: the framework, what pages share, and each page. */
const chunks = {
  groups: [
    { name: "framework", test: /node_modules\/(react|react-dom|react-router|scheduler|cookie|set-cookie-parser)\// },
    {
      name: "site",
      test: /\/app\/(components|lib|models)\/|node_modules\/(@conform-to|lucide)\//,
      minShareCount: 2,
    },
  ],
};

const router = path.resolve(import.meta.dirname, "node_modules/react-router/dist/production");
const routerFiles: Record<string, string> = { "react-router": "index.mjs", "react-router/dom": "dom-export.mjs" };

/** The package names its development files alone; the browser gets those without the warnings for developers. */
const productionRouter: Plugin = {
  name: "production-router",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  resolveId: (id) => (routerFiles[id] ? path.join(router, routerFiles[id]) : null),
};

export default defineConfig({
  plugins: [productionRouter, mdx(), manifest(), tailwindcss(), reactRouter()],
  resolve: { alias: { "~": path.resolve(import.meta.dirname, "app") } },
  environments: {
    client: { build: { rolldownOptions: { experimental: { lazyBarrel: true }, output: { codeSplitting: chunks } } } },
  },
});
