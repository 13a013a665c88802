import { redirect } from "react-router";
import { NoPage } from "~/components/no-page";
import { fileRoute, isPressedHere, noForm } from "~/lib/file-route.server";
import { limitsOf } from "~/lib/limits.server";
import { log, pseudonym } from "~/lib/log.server";
import { thrown } from "~/lib/refusal.server";
import { portalMiddleware, requireClient, whoAsks } from "~/lib/session.server";
import { companyBackend, forLongReads } from "~/lib/supabase.server";
import { dataArchive } from "~/models/own-data.server";

/** Everything about the client and their files, made while it is sent. */
const archive = fileRoute(async ({ context, request }) => {
  if (!isPressedHere(request)) return redirect("/portal/account", 303);
  const client = requireClient(context);
  const attempt = await limitsOf(context).archive(client.id);
  if ("reason" in attempt) throw thrown(attempt);
  const person = await forLongReads(client.backend);
  const body = await dataArchive(person, companyBackend()).catch((error: unknown) => {
    attempt.release();
    throw error;
  });
  log("info", "data taken away", { account: pseudonym(client.email) });
  return new Response(body, {
    headers: {
      "Content-Type": "application/zip",
      "Content-Disposition": 'attachment; filename="my-data.zip"',
      "Cache-Control": "private, no-store",
    },
  });
});

export const middleware = [portalMiddleware(() => whoAsks), ...archive.middleware];
export const loader = archive.loader;
export const action = noForm;

export default NoPage;
