import { dayInEastAfrica } from "../lib/dates.ts";
import { findFiguresToCheck, findSamples } from "./content-report.ts";

const samples = findSamples();
const figures = findFiguresToCheck(dayInEastAfrica(new Date()));
console.log([...samples, ...figures].join("\n"));
console.log(
  `\n${samples.length} values to replace. The texts of the services, FAQ, About and legal pages are samples too. Check these texts.`,
);
console.log(`${figures.length} figures to check. After a check, change the date, source and check_by of the figure.`);
