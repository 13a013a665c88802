import { readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";
import { parse } from "yaml";

export const manifestFile = "manifest.webmanifest";

const companyFile = path.resolve(import.meta.dirname, "../../../content/data/company.yaml");
const themeColour = "#0c1524";

export function createWebManifest(): string {
  const { name, short_name } = parse(readFileSync(companyFile, "utf8")) as { name: string; short_name: string };
  return JSON.stringify({
    name,
    short_name,
    id: "/",
    scope: "/",
    start_url: "/",
    display: "standalone",
    background_color: themeColour,
    theme_color: themeColour,
    icons: [
      { src: "/icon-192.png", sizes: "192x192", type: "image/png" },
      { src: "/icon-512.png", sizes: "512x512", type: "image/png" },
      { src: "/favicon.svg", sizes: "any", type: "image/svg+xml" },
    ],
  });
}

export function manifestPlugin(): Plugin {
  return {
    name: "manifest",
    configureServer({ middlewares }) {
      middlewares.use(`/${manifestFile}`, (_request, response) => {
        response.setHeader("Content-Type", "application/manifest+json").end(createWebManifest());
      });
    },
  };
}
