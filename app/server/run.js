/** Plain JavaScript, because this file compiles the TypeScript programs. Compiled programs start in half the time. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

// The old Node versions that this file rejects have no import.meta.dirname.
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
/** This folder is two levels deep, like app/server, because the programs find the project's folder at `../..`. */
const outputFolder = path.join(root, "dist/programs");
const programs = {
  start: "app/server/start.ts",
  staff: "app/server/cli.ts",
  backend: "supabase/local/main.ts",
  "convert-picture": "app/server/convert-picture.ts",
};

const oldest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")).engines.node.replace(">=", "");
const { node } = process.versions;
if (node.localeCompare(oldest, "en", { numeric: true }) < 0) {
  console.error(`Install Node ${oldest} or newer. The installed version is ${node}.`);
  process.exit(1);
}
// React and React Router read this variable while they load, to choose development or production code.
process.env.NODE_ENV ??= "production";

const [, , name] = process.argv;
const file = name && path.join(outputFolder, `${name}.js`);
// Production installations may have no sources.
if (existsSync(path.join(root, programs.start))) await ensureCompiled();
if (file && !existsSync(file)) {
  console.error("The build is missing. Run npm ci and npm run build first.");
  process.exit(1);
}
if (file) {
  process.argv.splice(1, 2, file);
  await import(pathToFileURL(file).href);
}

async function ensureCompiled() {
  const marker = path.join(outputFolder, "start.js");
  const sources = ["app", "supabase/contract", "supabase/local"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((entry) => path.join(root, folder, String(entry))),
  );
  const newest = Math.max(...[...sources, path.join(root, "package-lock.json")].map((file) => statSync(file).mtimeMs));
  if ((statSync(marker, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= newest) return;
  // Production installations have no esbuild.
  const compiler = await import("esbuild").catch(() => null);
  if (!compiler) return;
  const compile = async (entries, external) => {
    const { outputFiles } = await compiler.build({
      absWorkingDir: root,
      entryPoints: entries,
      outdir: outputFolder,
      write: false,
      bundle: true,
      splitting: true,
      ...external,
      platform: "node",
      format: "esm",
      target: `node${oldest}`,
    });
    return outputFiles;
  };
  const { start, "convert-picture": converter, ...otherPrograms } = programs;
  // `start` loads its packages from node_modules, like the site's build. The other programs contain their packages, so
  // that they open fewer files. The packages of `convert-picture` contain native code and WebAssembly.
  const [site, ownPackages] = await Promise.all([
    compile({ start, "convert-picture": converter }, { packages: "external" }),
    compile(otherPrograms, {
      external: ["@electric-sql/pglite", "bcryptjs", "libpg-query", "mdx-bundler", "esbuild", "react-router"],
      banner: { js: 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);' },
    }),
  ]);
  const outputFiles = [...site, ...ownPackages];
  mkdirSync(outputFolder, { recursive: true });
  // Writes each file under another name and renames the file, because another process may be reading the programs. The
  // marker is written last, because its modification time marks all programs as complete.
  const isMarker = (file) => file.path === marker;
  for (const { path: target, contents } of [...outputFiles].sort((a, b) => Number(isMarker(a)) - Number(isMarker(b)))) {
    writeFileSync(`${target}.${process.pid}`, contents);
    renameSync(`${target}.${process.pid}`, target);
  }
}
