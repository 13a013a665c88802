/**
 * Import rules. tests/guards/import-rules.test.ts checks the rules and lists the existing exceptions. The rules also
 * apply to type imports, except for rules that exclude type imports with `typeOnly`.
 */
const layers = "^app/(routes|components|actions|models|server|worker)/";
const typeOnly = ["type-only"];

/** Returns a rule: a file that matches `from` must not import a file that matches `to`. */
const forbid = (name, from, to) => ({ name, severity: "error", from, to });

export default {
  forbidden: [
    forbid("no-circular-imports", {}, { circular: true }),
    forbid("server-files-import-no-pages", { path: "\\.server\\.ts$" }, { path: "^app/(routes|components)/" }),
    forbid("lib-imports-no-business", { path: "^app/lib/" }, { path: layers }),
    forbid("models-import-no-pages", { path: "^app/models/" }, { path: layers, pathNot: "^app/models/" }),
    forbid(
      "models-import-no-http",
      { path: "^app/models/" },
      {
        path: "^app/lib/http/(redirect|toast\\.server|cookie|header|request|file-route|lite|offline|theme)|/react-router/",
      },
    ),
    forbid("actions-import-no-pages", { path: "^app/actions/" }, { path: "^app/(routes|components|server|worker)/" }),
    forbid("components-import-no-routes", { path: "^app/components/" }, { path: "^app/routes/" }),
    forbid(
      "components-import-only-types-of-server-files",
      { path: "^app/components/" },
      { path: "\\.server\\.ts$|^app/server/", dependencyTypesNot: typeOnly },
    ),
    forbid(
      "site-portal-and-desk-components-are-apart",
      { path: "^app/components/(site|portal|desk)/" },
      { path: "^app/components/(site|portal|desk)/", pathNot: "^app/components/(site|$1)/" },
    ),
    forbid(
      "shared-components-import-no-section",
      { path: "^app/components/(forms|motion|offline|ui)/" },
      { path: "^app/components/(site|portal|desk)/" },
    ),
    forbid(
      "sections-import-only-types-of-each-other",
      { path: "^app/routes/(_site|_auth|portal|desk|actions)" },
      { path: "^app/routes/", pathNot: "^app/routes/$1", dependencyTypesNot: typeOnly },
    ),
    forbid("only-the-server-imports-server", { path: "^app/(?!server/)" }, { path: "^app/server/" }),
    // app/ and supabase/local/ may both import the code in supabase/contract.
    forbid("backend-imports-no-app", { path: "^supabase/(local|contract)/" }, { path: "^app/" }),
    forbid("app-imports-no-backend", { path: "^app/" }, { path: "^supabase/local/" }),
    forbid("product-imports-no-tests", { path: "^(app|supabase)/", pathNot: "\\.test\\.ts$" }, { path: "^tests/" }),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^\\.react-router/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { conditionNames: ["types", "import", "node", "default"], exportsFields: ["exports"] },
  },
};
