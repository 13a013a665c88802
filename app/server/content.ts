import { findSamples } from "./sample-values.ts";

const lines = findSamples();
console.log(lines.join("\n"));
console.log(
  `\n${lines.length} values to replace. The texts of services, FAQ, About and the legal pages are samples too: read them once.`,
);
