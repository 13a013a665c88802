import type { WaitingOn } from "~/models/shipment";

export const waitingOnColours: Record<WaitingOn, string> = {
  client: "text-attention",
  company: "text-with-us",
  nobody: "text-done",
};
