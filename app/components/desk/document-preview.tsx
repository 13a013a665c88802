import { useState } from "react";
import { Button } from "~/components/ui/button";
import { useIsHydrated } from "~/components/ui/hydration";

/** Loads the preview only after a click, because the server records each opened file in the audit log. */
export function DocumentPreview({ src, name }: { src: string; name: string }) {
  const isHydrated = useIsHydrated();
  const [isShown, setShown] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (!isHydrated) return null;
  return (
    <>
      <Button type="button" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        {isShown ? "Hide preview" : "Preview"}
        <span className="sr-only"> of the {name}</span>
      </Button>
      {isShown && !isBroken && (
        <img src={src} alt={`Preview of the ${name}`} className="w-full" onError={() => setBroken(true)} />
      )}
      {isShown && isBroken && <p className="w-full text-sm">We cannot show a preview. Open the file instead.</p>}
    </>
  );
}
