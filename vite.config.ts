import path from "node:path";
import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";
import { mdx } from "./app/lib/mdx.build.ts";

/** Few files compress better and cost fewer round trips than many: the framework, what pages share, and each page. */
const chunks = {
  groups: [
    { name: "framework", test: /node_modules\/(react|react-dom|react-router|scheduler|cookie|set-cookie-parser)\// },
    {
      name: "site",
      test: /\/app\/(components|lib|models)\/|node_modules\/(@conform-to|lucide-react)\//,
      minShareCount: 2,
    },
  ],
};

export default defineConfig({
  plugins: [mdx(), tailwindcss(), reactRouter()],
  resolve: { alias: { "~": path.resolve(import.meta.dirname, "app") } },
  environments: { client: { build: { rolldownOptions: { output: { codeSplitting: chunks } } } } },
});
