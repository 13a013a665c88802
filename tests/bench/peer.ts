/**
 * Builds a minimal React Router app on @react-router/serve for comparison: one page with a stylesheet and hydration.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { type BenchSite, startServe } from "./site.ts";

const root = path.resolve(import.meta.dirname, "../..");

const peerFiles: Record<string, string> = {
  "package.json": JSON.stringify({
    name: "bare",
    private: true,
    type: "module",
    // React Router finds its server runtime by this list. The packages come from this project's node_modules.
    dependencies: { "@react-router/node": "*", isbot: "*", react: "*", "react-dom": "*" },
  }),
  "react-router.config.ts": "export default { ssr: true };",
  "vite.config.ts": `import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
export default { plugins: [tailwindcss(), reactRouter()] };`,
  "app/app.css": '@import "tailwindcss";',
  "app/routes.ts": 'import { index } from "@react-router/dev/routes";\nexport default [index("home.tsx")];',
  "app/root.tsx": `import { Links, Meta, Outlet, Scripts, ScrollRestoration } from "react-router";
import "./app.css";
export function Layout({ children }) {
  return <html lang="en"><head><meta charSet="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><Meta /><Links /></head>
    <body>{children}<ScrollRestoration /><Scripts /></body></html>;
}
export default function App() { return <Outlet />; }`,
  "app/home.tsx": `export function meta() { return [{ title: "A bare app" }]; }
export default function Home() {
  return <main className="flex items-center justify-center pt-16 pb-4"><div className="flex min-h-0 flex-1 flex-col items-center gap-16">
    <h1 className="text-4xl font-bold">A bare app</h1>
    <p className="max-w-prose leading-6 text-gray-700">One page of the framework with only this text.</p>
  </div></main>;
}`,
};

export async function startBarePeer(folder: string): Promise<BenchSite> {
  for (const [name, text] of Object.entries(peerFiles)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const { status, stderr } = spawnSync(process.execPath, ["node_modules/@react-router/dev/bin.js", "build"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NODE_ENV: "production" },
  });
  if (status !== 0) throw new Error(`The build of the minimal React Router app failed: ${stderr}`);
  return startServe(folder, {});
}
