import { channel } from "node:diagnostics_channel";

/** Node's diagnostics channels connect the web server and the app, which are two bundles without shared modules. */
function createChannel<T>(name: string) {
  const shared = channel(`site.${name}`);
  return {
    publish: (message: T) => shared.publish(message),
    subscribe: (listener: (message: T) => void) => shared.subscribe((message) => listener(message as T)),
  };
}

export type LogLine = Record<string, unknown> & { level: string; event: string };
export const logChannel = createChannel<LogLine>("log");

/** `status` is 0 if the backend did not respond. */
export const backendCallChannel = createChannel<{ url: string; status: number; ms: number }>("backend-call");

export const transferChannel = createChannel<{ kind: "uploads" | "downloads"; change: 1 | -1 }>("transfer");
