/** Addresses that answer with a file, and pages without a form. */
import { createContext, data, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import type { MiddlewareArgs } from "../auth/viewer.server.ts";

/** The action of a page that has no form. */
export function noFormAction(): never {
  throw data("Not found", { status: 404 });
}

/**
 * Whether a download was pressed here, and its bytes are asked for: not by another site's link, by a browser that fetches
 * ahead, or for its head alone.
 */
export function isDownloadClick({ method, headers }: Request): boolean {
  return method === "GET" && headers.get("Sec-Fetch-Site") !== "cross-site" && !headers.has("Sec-Purpose");
}

const fileErrorContext = createContext<unknown>();

/**
 * Middleware and loader of an address that answers with a file of `make`. The route has a component, NoPage, so that what
 * `make` throws becomes the site's error page, and no bare JSON.
 */
export function createFileRoute(make: (args: MiddlewareArgs) => Response | Promise<Response>) {
  const middleware: MiddlewareFunction<Response>[] = [
    async (args, next) => {
      if (args.request.method === "POST") return next();
      try {
        return await make(args);
      } catch (error) {
        args.context.set(fileErrorContext, error);
        return next();
      }
    },
  ];
  const loader = ({ context }: { context: Readonly<RouterContextProvider> }): never => {
    throw context.get(fileErrorContext);
  };
  return { middleware, loader };
}
