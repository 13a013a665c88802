import { dayInEastAfrica } from "../lib/dates.ts";
import { findFiguresToCheck, findSamples } from "./content-report.ts";

const samples = findSamples();
const figures = findFiguresToCheck(dayInEastAfrica(new Date()));
console.log([...samples, ...figures].join("\n"));
console.log(
  `\n${samples.length} sample values to replace. The texts of the services, FAQ, About and legal pages are samples too. Check these texts.`,
);
console.log(
  `${figures.length} figures to check. After you check a figure, update its date and check_by. If the source is new, update the source too.`,
);
