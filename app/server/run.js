/**
 * Runs a program of the company's server, compiled: `node app/server/run.js start`, `staff` or `backend`; without a name
 * it only compiles. A compiled program starts in half the time of one whose modules are transformed as they load. It is
 * compiled again when a source is newer. Plain JavaScript, as nothing has been compiled before it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

// Node versions that are too old do not know import.meta.dirname.
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
/** As deep as the folders of the sources, so that `../..` leads to the root from both; not in build/, which a build empties. */
const compiled = path.join(root, "dist/programs");
const programs = {
  start: "app/server/start.ts",
  staff: "app/server/cli.ts",
  backend: "supabase/local/main.ts",
};

const oldest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")).engines.node.replace(">=", "");
const { node } = process.versions;
if (node.localeCompare(oldest, "en", { numeric: true }) < 0) {
  console.error(`This needs Node ${oldest} or newer, and this is ${node}.`);
  process.exit(1);
}
// React and the router look at this once, when they are loaded: before app/lib/http/env.server.ts, which reads all the rest.
process.env.NODE_ENV ??= "production";

const [, , name] = process.argv;
const file = name && path.join(compiled, `${name}.js`);
// An installation of the build alone has no sources.
if (existsSync(path.join(root, programs.start))) await ensureCompiled();
if (file && !existsSync(file)) {
  console.error("There is no build to serve: run npm ci and npm run build first.");
  process.exit(1);
}
if (file) {
  process.argv.splice(1, 2, file);
  await import(pathToFileURL(file).href);
}

/** Compiles the programs, unless they are newer than every source. */
async function ensureCompiled() {
  const mark = path.join(compiled, "start.js");
  const sources = ["app", "supabase/contract", "supabase/local"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((entry) => path.join(root, folder, String(entry))),
  );
  const newest = Math.max(...[...sources, path.join(root, "package-lock.json")].map((one) => statSync(one).mtimeMs));
  if ((statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= newest) return;
  // An installation without the development dependencies runs what it came with.
  const compiler = await import("esbuild").catch(() => null);
  if (!compiler) return;
  const compile = async (entries, external) => {
    const { outputFiles } = await compiler.build({
      absWorkingDir: root,
      entryPoints: entries,
      outdir: compiled,
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
  const { start, ...others } = programs;
  // The site shares its packages with its build. The others find hundreds of files less with theirs in them: a third of
  // their start. Out of them stay what is not JavaScript, and packages in CommonJS ask for Node's own modules.
  const [site, ownPackages] = await Promise.all([
    compile({ start }, { packages: "external" }),
    compile(others, {
      external: ["@electric-sql/pglite", "bcryptjs", "libpg-query", "mdx-bundler", "esbuild", "react-router"],
      banner: { js: 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);' },
    }),
  ]);
  const outputFiles = [...site, ...ownPackages];
  mkdirSync(compiled, { recursive: true });
  // Each is renamed into its place, as another start may be reading it; the file whose time counts comes last.
  const isMark = (file) => file.path === mark;
  for (const { path: target, contents } of [...outputFiles].sort((a, b) => Number(isMark(a)) - Number(isMark(b)))) {
    writeFileSync(`${target}.${process.pid}`, contents);
    renameSync(`${target}.${process.pid}`, target);
  }
}
