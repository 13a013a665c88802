import { STAGES } from "~/models/shipment";

export const stageOptions = STAGES.map((name, index): [string, string] => [`${index + 1}`, `${index + 1} ${name}`]);
