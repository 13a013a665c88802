import { findSamples } from "./sample-values.ts";

const lines = findSamples();
console.log(lines.join("\n"));
console.log(
  `\n${lines.length} values to replace. The texts of the services, FAQ, About and legal pages are samples too. Check and replace these texts.`,
);
